import { z } from 'zod';
import { API_VERSIONS } from '../../schema/value-lists.ts';
import { FORCIBLE_PROBLEMS, MAX_SANDBOX_DELAY_MS } from '../../services/identity/admission/sandbox-wishes.ts';
import { headerName } from '../header-name.ts';
import type { Json, Operation } from '../operation.ts';
import { stepsOf } from '../pipeline.ts';
import { pageParameters } from '../representations/list.ts';
import { WORKSPACE_HEADER } from '../steps/authenticate.ts';
import { claimIdempotencyKey, KEYED_METHODS } from '../steps/claim-idempotency-key.ts';
import { CURRENT_VERSION } from '../versions.ts';
import type { Components } from './components.ts';
import { PAGE_PARAMETERS, sharedParameter } from './lists.ts';

export function parametersOf(operation: Operation, components: Components): Json[] {
  const steps = new Set(stepsOf(operation.kind).map(({ name }) => name));
  const parameters: Json[] = [
    ...fields(operation.pathSchema, 'path', operation.example.path, components),
    ...fields(operation.querySchema, 'query', operation.example.query, components),
    ...fields(operation.headerSchema, 'header', operation.example.headers, components),
    {
      name: 'SVC-API-Version',
      in: 'header',
      required: false,
      schema: { type: 'string', enum: [...API_VERSIONS], default: CURRENT_VERSION },
    },
  ];
  if (operation.action !== null) {
    parameters.push({
      name: WORKSPACE_HEADER,
      in: 'header',
      required: false,
      description:
        'Workspace to act in, ws_…: for the account that owns it, with your role there. Without it you act for your ' +
        'own account.',
      schema: { type: 'string' },
    });
  }
  if (steps.has('consume-nonce')) {
    parameters.push({
      name: 'X-Nonce',
      in: 'header',
      required: operation.kind !== 'oauth',
      description:
        operation.kind === 'oauth' ? 'Needed with JSON; forms do without' : 'Fresh for every request; a UUID will do',
      schema: { type: 'string', pattern: '^[A-Za-z0-9_-]{8,128}$' },
      example: '6f1d2c3b-8a49-4c0e-9d57-1b2e3f405162',
    });
  }
  if (steps.has('grant-sandbox-wishes')) {
    parameters.push({
      name: 'SVC-Sandbox-Force',
      in: 'header',
      required: false,
      description: 'Answers with this error; ignored with live keys',
      schema: { type: 'string', enum: [...FORCIBLE_PROBLEMS] },
    });
    if (operation.kind === 'job')
      parameters.push({
        name: 'SVC-Sandbox-Delay',
        in: 'header',
        required: false,
        description: 'Milliseconds that the job takes longer, so that it can be watched; ignored with live keys',
        schema: { type: 'integer', minimum: 0, maximum: MAX_SANDBOX_DELAY_MS },
      });
  }
  if (takesIdempotencyKey(operation)) {
    const description =
      'Sent again within 24 hours, the same request has no second effect and gets the same answer. Derive it from ' +
      'what the request is about, or draw a UUID; keep it for retries, with a new X-Nonce each';
    parameters.push({
      name: 'SVC-Idempotency-Key',
      in: 'header',
      required: false,
      description,
      schema: { type: 'string', minLength: 1, maxLength: 255, pattern: '^[\\x20-\\x7e]+$' },
    });
  }
  if (operation.representation !== undefined && operation.representation.askedBy === undefined)
    parameters.push({
      name: 'Prefer',
      in: 'header',
      required: false,
      description: 'return=representation asks for an answer with a body',
      schema: { type: 'string' },
    });
  if (operation.isResource === true)
    parameters.push({ name: 'If-None-Match', in: 'header', required: false, schema: { type: 'string' } });
  return parameters;
}

/** By its steps, as all else; a deletion that is sent again needs none (contract §9.6). */
export function takesIdempotencyKey(operation: Operation): boolean {
  return KEYED_METHODS.has(operation.method) && stepsOf(operation.kind).includes(claimIdempotencyKey);
}

function fields(
  schema: z.ZodObject | undefined,
  place: Place,
  example: Readonly<Record<string, string>> | undefined,
  components: Components,
): Json[] {
  const { properties, required } = membersOf(schema, components);
  return Object.entries(properties).map(
    ([name, member]) =>
      sharedParameter(name, schema?.shape[name]) ??
      parameterOf(name, member, place, required.includes(name), example?.[name]),
  );
}

/** The parameters that operations refer to. */
export function parameterComponents(components: Components): Json {
  const { properties } = membersOf(z.object(pageParameters), components);
  return Object.fromEntries(
    Object.entries(PAGE_PARAMETERS).map(([component, name]) => [
      component,
      parameterOf(name, properties[name]!, 'query', false, undefined),
    ]),
  );
}

type Place = 'path' | 'query' | 'header';

function membersOf(schema: z.ZodObject | undefined, components: Components) {
  const { properties = {}, required = [] } = schema === undefined ? {} : components.schemaOf(schema);
  return {
    properties: properties as Readonly<Record<string, Json>>,
    required: required as readonly string[],
  };
}

function parameterOf(
  name: string,
  { description, ...property }: Json,
  place: Place,
  isRequired: boolean,
  example: string | undefined,
): Json {
  return {
    name: place === 'header' ? headerName(name) : name,
    in: place,
    required: place === 'path' || isRequired,
    ...(description === undefined ? {} : { description }),
    schema: property,
    ...(property['type'] === 'array' ? { style: 'form', explode: false } : {}),
    ...(example === undefined ? {} : { example: typedExample(property, example) }),
  };
}

/** Examples are written as they stand in an address; the document shows the values that they stand for. */
function typedExample({ type }: Json, text: string): unknown {
  if (type === 'integer') return Number(text);
  return type === 'array' ? text.split(',') : text;
}
