import { Argument, Command, CommanderError, Option } from 'commander';
import { LEAST_MARGIN } from '../schema/least-margin.ts';
import { ENVIRONMENTS, MODELS } from '../schema/value-lists.ts';
import { PLANS, type Plan } from '../schema/principal.ts';
import type { NewAccountOptions, NewKeyOptions } from './cli/admin-command.ts';
import type { AnalyzeOptions } from './cli/analyze-command.ts';
import type { AuditArchiveOptions, AuditVerifyOptions } from './cli/audit-command.ts';
import type { ExampleOptions } from './cli/example-command.ts';
import { addFileOptions } from './cli/file-options.ts';
import type { InspectOptions } from './cli/inspect-command.ts';
import type { KeysOptions } from './cli/keys-command.ts';
import type { ListenOptions } from './cli/listen-command.ts';
import type { VerifyOptions } from './cli/verify-command.ts';
import { calendarDate, decimalNumber, nameList, qualityCodes, scopeList } from './cli/option-values.ts';
import { reportPaths, wholeNumber, wholePosition } from './cli/option-values.ts';
import { packageVersion } from './package-version.ts';

/** Exit codes of every command. */
const EXIT = { ok: 0, badInput: 1, internal: 2, interrupted: 130 } as const;

const EXAMPLES = `
Examples:
  npx liftgraph example shop
      write half a year of an invented shop into ./shop
  npx liftgraph analyze shop/touchpoints.csv shop/orders.csv shop/spend.csv --report shop/report.html
      what each channel caused: a table here, a report to share
  npx liftgraph analyze shop/events.csv --from 2026-03-01 --to 2026-03-31
      touches and orders in one table; March only
  npx liftgraph analyze shop/touchpoints.csv shop/orders.csv shop/spend.csv --margin 0.4
      profit, too: of revenue, 40 % is left after the cost of the goods
  npx liftgraph analyze shop/paths.csv --model markov --order 2 --json
      journeys aggregated by path; JSON for another program
  npx liftgraph inspect orders_export.csv
      how a file would be read, and what it leaves open
  npx liftgraph verify result.json --jwks https://api.example/.well-known/jwks.json
      check that a result of POST /v1/attribution is what the service signed
  npx liftgraph listen --forward-to http://127.0.0.1:3000/webhooks
      forward events to a program under development, signed like webhooks
  npx liftgraph keys rotate
      sign with the next key from now on
  npx liftgraph admin account create --email you@example.com --plan pro
      the first account and its keys

Files: .csv, .tsv, .txt, .ndjson, .jsonl, .json, .parquet, .xlsx, plain or with .gz: exports of the usual vendors as
they are (docs/operating/exports.md), or columns of these names and their like. liftgraph inspect FILE says what it
makes of one:
  touchpoints  user_id, timestamp, channel [, campaign, source, medium, cost, event_type, event_id]
  orders       order_id, user_id, timestamp, revenue [, cogs, currency, new_customer]
  spend        date, channel, spend [, campaign, impressions, clicks]
  events       user_id, timestamp, channel, conversion, revenue [, campaign, cost]
  paths        path ("email > direct"), conversions, revenue, nulls [, date]
  identities   id, same_as: ids that are one person
  fx           date, currency, rate: what other money is worth

Exit codes: 0 done, 1 something is wrong with the input, 2 something is wrong with Liftgraph.
For verify and audit verify: 0 the result is genuine, the chain proven; 1 it is not; 2 it could not be determined.`;

/** Tells `main` how to exit. */
type ExitWith = (code: number) => void;

/** The command line. What a command needs is loaded when it runs, so that help comes at once. */
function buildProgram(exitWith: ExitWith): Command {
  const program = new Command('liftgraph')
    .description('Causal marketing attribution: what did each channel change?')
    .version(packageVersion())
    .showHelpAfterError('(liftgraph --help shows examples)')
    .addHelpText('after', EXAMPLES)
    .exitOverride();
  addInspect(program);
  addAnalyze(program);
  addExample(program);
  addVerify(program, exitWith);
  addListen(program);
  addKeys(program);
  addAdmin(program, exitWith);
  addAudit(program, exitWith);
  return program;
}

function addInspect(program: Command): void {
  const inspect = program
    .command('inspect')
    .description('say how files would be read, before anything is done with them')
    .argument('<file...>', 'exports of any vendor, or files of your own');
  addFileOptions(inspect)
    .option('--json', 'print what was found as JSON')
    .action(async (files: string[], options: InspectOptions) =>
      (await import('./cli/inspect-command.ts')).runInspect(files, options),
    );
}

function addAnalyze(program: Command): void {
  const analyze = program
    .command('analyze')
    .description('attribute the revenue in files to channels; needs no server')
    .argument('<file...>', 'touchpoints, orders, spend, events, paths, identities or rates of exchange');
  addFileOptions(analyze)
    .addOption(new Option('--model <name>', 'model whose credit to show').choices(MODELS).default('causal'))
    .option('--from <date>', 'first day, YYYY-MM-DD (default: first day of the data)', calendarDate)
    .option('--to <date>', 'last day, YYYY-MM-DD (default: last day of the data)', calendarDate)
    .addOption(
      new Option(
        '--granularity <period>',
        'periods of the time series (default: what suits the length of the range)',
      ).choices(['daily', 'weekly', 'monthly']),
    )
    .option('--lookback-days <days>', 'how far a journey reaches back before an order, 1 to 90', wholeNumber(1, 90), 30)
    .option('--order <order>', 'order of the Markov chain, 1 to 4', wholeNumber(1, 4), 1)
    .option('--confidence <level>', 'level of the intervals, 0.80 to 0.99', decimalNumber(0.8, 0.99), 0.95)
    .option(
      '--baseline <channels>',
      'unpaid channels, separated by commas; * at the end matches any ending (default: ' +
        'direct,organic*,(none),unassigned)',
      nameList,
    )
    .option(
      '--margin <share>',
      'share of revenue left after the cost of goods, 0.0001 to 1, for profit beside revenue (default: by the ' +
        'column cogs of the orders, where they have it)',
      decimalNumber(LEAST_MARGIN, 1),
    )
    .option(
      '--channel-rules <file>',
      'what channels are to be called: a JSON file of rules, as PUT /v1/data-sources/{id}/channel-rules takes them',
    )
    .option(
      '--experiments <file>',
      'results of experiments that calibrate causal: a CSV file with channel, method (holdout or geo), start, end, ' +
        'incremental_revenue, standard_error',
    )
    .option(
      '--accept-quality <codes>',
      'go on although these checks of the data are blocking, separated by commas',
      qualityCodes,
    )
    .option('--json', 'print the result as JSON')
    .option('--report <file>', 'write a report: a page (.html) or a workbook (.xlsx); repeatable', reportPaths)
    .action(async (files: string[], options: AnalyzeOptions) =>
      (await import('./cli/analyze-command.ts')).runAnalyze(files, options),
    );
}

function addExample(program: Command): void {
  program
    .command('example')
    .description('write an example shop to try things on')
    .argument('<directory>', 'created if missing')
    .option('--end <date>', 'last day of the data, YYYY-MM-DD (default: yesterday)', calendarDate)
    .option('--seed <number>', 'another seed makes another shop', wholeNumber(0, 2 ** 31 - 1), 1)
    .option('--users <number>', 'people the shop can reach (default: 12000)', wholeNumber(1, 2_000_000))
    .action(async (directory: string, options: ExampleOptions) =>
      (await import('./cli/example-command.ts')).runExample(directory, options),
    );
}

function addVerify(program: Command, exitWith: ExitWith): void {
  program
    .command('verify')
    .description('check a signed result; needs the public keys and nothing else')
    .argument('<file>', 'a result as JSON, or its signature alone; - reads standard input')
    .requiredOption('--jwks <file or URL>', 'the keys: /.well-known/jwks.json of the service, or a copy of it')
    .option('--issuer <address>', 'address that must have signed, for example https://api.example')
    .option('--json', 'print the outcome as JSON')
    .action(async (file: string, options: VerifyOptions) =>
      exitWith(await (await import('./cli/verify-command.ts')).runVerify(file, options)),
    );
}

function addListen(program: Command): void {
  program
    .command('listen')
    .description(
      'print events as they happen, or forward them as signed webhooks; reconnects by itself, ends with Ctrl-C',
    )
    .option(
      '--forward-to <url>',
      'send each event to this address as a webhook, signed with a secret that is printed first',
    )
    .option(
      '--key <key>',
      'API key or access token (default: LIFTGRAPH_KEY in the environment, where other users of the ' +
        'machine do not see it)',
    )
    .option('--events <types>', 'only these types, separated by commas (default: all that the key may read)')
    .option('--after <position>', 'start after this event; 0 for all that are kept (default: now)', wholePosition)
    .option('--url <address>', 'address of the service', 'http://127.0.0.1:4000')
    .option('--json', 'print whole messages, one per line')
    .action(async (options: ListenOptions) => (await import('./cli/listen-command.ts')).runListen(options));
}

function addKeys(program: Command): void {
  const keys = program
    .command('keys')
    .description('manage the keys that sign results; reads the configuration of the service from the environment');
  const environment = () =>
    new Option('--environment <name>', 'of which results (default: both)').choices(ENVIRONMENTS);
  keys
    .command('list')
    .description(
      'list every key: current signs, next is published and signs after it, retired still verifies, revoked does not',
    )
    .addOption(environment())
    .option('--json', 'print them as JSON')
    .action(async (options: KeysOptions) => (await import('./cli/keys-command.ts')).listKeys(options));
  keys
    .command('rotate')
    .description('sign with the next key from now on; earlier signatures stay valid')
    .addOption(environment())
    .option('--lost-secret', 'also when KEY_ENCRYPTION_KEY is not the one that the keys were sealed under')
    .action(async (options: KeysOptions) => (await import('./cli/keys-command.ts')).rotateKeys(options));
  keys
    .command('revoke')
    .description('declare everything that this key signed invalid; cannot be undone')
    .argument('<kid>', 'as keys list shows it')
    // One in 64 of them begins with a hyphen, and is not an option for that.
    .allowUnknownOption()
    .action(async (kid: string) => (await import('./cli/keys-command.ts')).revokeKey(kid));
}

function addAdmin(program: Command, exitWith: ExitWith): void {
  const admin = program
    .command('admin')
    .description(
      'manage accounts and their keys, whether the service runs or not; reads its configuration from the environment',
    );
  const account = admin.command('account').description('manage accounts');
  const perMinute = () =>
    new Option(
      '--requests-per-minute <number>',
      'limit agreed with this account (default: by plan and tier)',
    ).argParser(wholeNumber(1, 1_000_000));
  const perDay = () =>
    new Option('--requests-per-day <number>', 'limit agreed with this account (default: by plan and tier)').argParser(
      wholeNumber(1, 1_000_000_000),
    );
  account
    .command('create')
    .description('create an account for people, with its first live and test key; agents register by themselves')
    .requiredOption('--email <address>', 'e-mail address of the operator')
    .addOption(
      new Option('--plan <plan>', 'plan of the account (default: that of whoever registers, see BILLING)').choices(
        PLANS,
      ),
    )
    .option('--name <name>', 'name shown in lists')
    .addOption(perMinute())
    .addOption(perDay())
    .option('--json', 'print the keys as JSON')
    .action(async (options: NewAccountOptions) =>
      (await import('./cli/admin-command.ts')).createAccountByAdmin(options),
    );
  account
    .command('list')
    .description('list every account, newest first')
    .option('--json', 'print them as JSON')
    .action(async (options: { json?: true }) => (await import('./cli/admin-command.ts')).listAccounts(options));
  account
    .command('set-plan')
    .description('change the plan of an account from the next request on; limits that are left out follow the plan')
    .argument('<account>', 'id, e-mail or operator id')
    .addArgument(new Argument('<plan>', 'the new plan').choices(PLANS))
    .addOption(perMinute())
    .addOption(perDay())
    .action(async (reference: string, plan: Plan, options: NewAccountOptions) =>
      (await import('./cli/admin-command.ts')).setPlan(reference, plan, options),
    );
  const invoice = admin.command('invoice').description('make and settle invoices');
  invoice
    .command('close-months')
    .description('make the invoices of months that are over, and mark those past due; the service does so by itself')
    .action(async () => (await import('./cli/economy-command.ts')).runMonthClose());
  for (const [verb, description] of [
    ['paid', 'book that an invoice was paid'],
    ['void', 'take back an invoice that nobody has paid'],
  ] as const)
    invoice
      .command(verb)
      .description(description)
      .argument('<invoice>', 'its id, inv_…')
      .action(async (id: string) => (await import('./cli/invoice-command.ts')).settleInvoiceByAdmin(verb, id));
  admin
    .command('agent')
    .description('manage agents')
    .command('suspend')
    .description(
      'for fraud: ends the keys of an agent, holds its payouts, and takes back what its referrers earned by it in ' +
        '90 days',
    )
    .argument('<account>', 'id, e-mail or operator id of its account')
    .requiredOption('--reason <text>', 'why, for the audit log')
    .action(async (reference: string, options: { reason: string }) =>
      (await import('./cli/economy-command.ts')).suspendAgent(reference, options),
    );
  admin
    .command('payout')
    .description('pay commissions that could be paid before the first of the month; the service does so by itself')
    .option('--json', 'print what was paid as JSON')
    .action(async (options: { json?: true }) => (await import('./cli/economy-command.ts')).runPayout(options));
  admin
    .command('books')
    .description('fees, commissions and payouts')
    .command('check')
    .description('add everything up again, and say whether it agrees: exits with 0 or 1')
    .option('--json', 'print what disagrees as JSON')
    .action(async (options: { json?: true }) =>
      exitWith(await (await import('./cli/economy-command.ts')).runBooksCheck(options)),
    );
  admin
    .command('key')
    .description('manage the keys of an account')
    .command('create')
    .description('create another live and test key, for example when the first ones were lost')
    .requiredOption('--account <account>', 'id, e-mail or operator id')
    .option('--name <name>', 'name shown in lists')
    .option('--scopes <scopes>', 'what the keys may do, separated by commas (default: everything)', scopeList)
    .option('--json', 'print the keys as JSON')
    .action(async (options: NewKeyOptions) => (await import('./cli/admin-command.ts')).createKeyByAdmin(options));
}

function addAudit(program: Command, exitWith: ExitWith): void {
  const audit = program.command('audit').description('verify, export and archive the audit log');
  audit
    .command('verify')
    .description(
      'check entries of one chain: files of the archive, or entries as the service shows them, one per ' +
        'line, oldest first',
    )
    .argument('<file...>', '.ndjson or .ndjson.gz')
    .requiredOption('--heads <file>', 'the signed heads: AUDIT_HEADS_FILE of the service, or a copy of it')
    .requiredOption('--jwks <file or URL>', 'the keys: /.well-known/jwks.json of the service, or a copy that you kept')
    .option('--json', 'print the outcome as JSON')
    .action(async (files: string[], options: AuditVerifyOptions) =>
      exitWith(await (await import('./cli/audit-command.ts')).runAuditVerify(files, options)),
    );
  audit
    .command('export')
    .description(
      'print the sealed entries of a chain, one per line, oldest first; reads the configuration of the service from ' +
        'the environment',
    )
    .argument('[chain]', 'chain_id as entries name it, or installation for what belongs to no account', 'installation')
    .action(async (chain: string) => (await import('./cli/audit-command.ts')).runAuditExport(chain));
  audit
    .command('archive')
    .description(
      'move old entries from the database into archive files; reads the configuration of the service from the ' +
        'environment',
    )
    .option('--older-than-days <days>', 'move entries older than this', wholeNumber(0, 36_500), 90)
    .action(async (options: AuditArchiveOptions) => (await import('./cli/audit-command.ts')).runAuditArchive(options));
}

async function main(argv: readonly string[]): Promise<number> {
  // A reader that has seen enough (`| head`) is not an error.
  process.stdout.on('error', (error: NodeJS.ErrnoException) =>
    process.exit(error.code === 'EPIPE' ? EXIT.ok : EXIT.internal),
  );
  try {
    let code: number = EXIT.ok;
    await buildProgram((wanted) => (code = wanted)).parseAsync(argv);
    return code;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.badInput;
    const { explainFailure } = await import('./cli/explain-failure.ts');
    const { kind, text } = explainFailure(error);
    process.stderr.write(`${text}\n`);
    return EXIT[kind];
  }
}

process.exitCode = await main(process.argv);
