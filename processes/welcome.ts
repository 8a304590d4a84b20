import { relative, resolve } from 'node:path';
import type { Config } from './config/config.ts';
import type { ExampleFiles } from './example-files.ts';

/** Of the table that the first request ends with: the member of `channel_impact` below each title. */
const IMPACT_COLUMNS = {
  channel: 'channel',
  spend: 'spend',
  last_click: 'lastclick_revenue',
  causal: 'attributed_revenue',
  roas: 'roas',
} as const;

/** What the terminal shows once everything is up: where things are, what it lacks, and a first request to paste. */
export function welcome(config: Config, port: number, example: ExampleFiles, lacksRoom: boolean): string[] {
  const root = `${config.tlsCertFile === undefined ? 'http' : 'https'}://${dialled(config.host)}:${port}`;
  // Whole and quoted: the shell it is pasted into may stand elsewhere.
  const directory = `'${resolve(example.directory).replaceAll(`'`, String.raw`'\''`)}'`;
  return [
    '',
    `Liftgraph is up at ${root}`,
    '',
    `  REST       ${root}/v1          documentation at ${root}/docs`,
    `  GraphQL    ${root}/graphql     open it in a browser for GraphiQL; subscriptions over WebSocket`,
    `  Health     ${root}/readyz`,
    ...(config.bootstrapToken === undefined
      ? []
      : [`  Account    ${root}/bootstrap   makes the first one, with BOOTSTRAP_TOKEN`]),
    `  Data       ${relative(process.cwd(), config.dataDir) || '.'}`,
    ...(lacksRoom
      ? ['', 'The disk is nearly full: nothing more is stored until there is room, as the log says. Reads go on.']
      : []),
    '',
    'Paste this to register, upload an example shop and see what each channel added:',
    '',
    ...firstRequest(root, directory, example.dateRange).map((line) => `  ${line}`),
    '',
    'Ctrl-C stops it.',
    '',
  ];
}

/** The address to reach a listening host at: every interface includes this machine, and IPv6 goes into brackets. */
function dialled(host: string): string {
  if (host === '0.0.0.0' || host === '::') return '127.0.0.1';
  return host.includes(':') ? `[${host}]` : host;
}

/** A shell script of curl and node alone; the nonces are UUIDs that node makes. */
function firstRequest(root: string, directory: string, [start, end]: readonly [string, string]): string[] {
  const nonce = `-H "X-Nonce: $(node -p 'crypto.randomUUID()')"`;
  const json = `-H 'Content-Type: application/json'`;
  const columns = Object.entries(IMPACT_COLUMNS)
    .map(([title, member]) => `${title}:c.${member}`)
    .join(',');
  const showImpact =
    `node -e 'const r=JSON.parse(require("fs").readFileSync(0,"utf8"));` +
    `console.table(r.channel_impact.map(c=>({${columns}})))'`;
  const pick = (member: string) => `node -pe 'JSON.parse(require("fs").readFileSync(0,"utf8")).${member}'`;
  return [
    `LG=${root}/v1`,
    `KEY=$(curl -sSf $LG/agents/register ${nonce} ${json} -d ` +
      `"{\\"name\\":\\"first-agent\\",\\"operator_id\\":\\"me-$(date +%s)\\"}" | ${pick('api_key')})`,
    `SOURCE=$(curl -sSf $LG/data-sources/connect -H "Authorization: Bearer $KEY" ${nonce} ${json} -d ` +
      `'{"type":"csv_upload","credentials":{"filename":"example shop"}}' | ${pick('data_source_id')})`,
    `for FILE in touchpoints orders spend; do curl -sSf $LG/data-sources/$SOURCE/records -H "Authorization: Bearer ` +
      `$KEY" ${nonce} -H 'Content-Type: text/csv' -T ${directory}/$FILE.csv -X POST -o /dev/null; done`,
    `curl -sS $LG/attribution -H "Authorization: Bearer $KEY" ${nonce} ${json} -d ` +
      `"{\\"data_source_id\\":\\"$SOURCE\\",\\"date_range\\":[\\"${start}\\",\\"${end}\\"]}" | ${showImpact}`,
  ];
}
