import { plural } from "./plural.ts"

/** `pawl doctor`: one line per finding, "subject: what was found; what to do". */
export const doctorText = {
  help: `Usage: pawl doctor [--json]

Checks the setup, one line per finding: versions, settings, database and schema, durability, disks, master key, other nodes and
their clocks, the connection between nodes, model providers, traces, the sandbox and slow SQL statements. Every note and
problem says what to do. Exit code 1 if there is a problem.

  --json  print the findings as JSON: {"ok", "findings": [{"mark", "what"}]}
`,
  finding: (mark: string, what: string) => `${mark.padEnd(5)} ${what}\n`,
  verdict: (problems: number) =>
    problems === 0 ? "\nNo problems found.\n" : `\n${plural(problems, "problem")} found; see "wrong" above.\n`,
  pawl: (version: string) => `Pawl ${version}`,
  node: (version: string) => `Node ${version}`,
  oldNode: (version: string, needed: number) => `Node ${version}: Pawl needs Node ${needed} or newer`,
  settings: "settings",
  dataFolder: (folder: string) => `data folder: ${folder}`,
  sqlite: (folder: string, version: string | undefined) => `database: SQLite in ${folder}, version ${version}`,
  postgres: (version: string | undefined) => `database: PostgreSQL (DATABASE_URL), version ${version}`,
  schema: (step: string) => `schema: up to date, ${step}`,
  newerSchema: (steps: string) => `schema: a newer version of Pawl added ${steps}; this version can use the database`,
  disk: "disk",
  filesDisk: "disk space for attachments",
  readableByOthers: (path: string) => `${path} can be read by other users of this machine; run: chmod go= ${path}`,
  noTokens:
    "no one can sign in yet; run: pawl invite --user NAME (for a browser), or pawl token create --user NAME (for programs)",
  packs: (all: string, configured: string) => `packs: ${all} (${configured} from PAWL_PACKS)`,
  editors: (command: string) =>
    `editors: to connect an editor, enter this command in its settings: ${command} (docs/recipes/connect-an-editor.md)`,
  models: (names: string) => `models: ${names}`,
  defaultModel: (name: string) => `default model: ${name}`,

  noBus: "node messages: off, because NATS_URL is not set; nodes see each other's changes within two seconds",
  busKeyMissing: "node messages: not checked, because they are encrypted with a master key that is not available here",
  busDown:
    "node messages: NATS (NATS_URL) does not answer; until it does, nodes see each other's changes after up to two seconds",
  busUp: (ms: string, nodes: number, slowest: string) =>
    `node messages: NATS answers in ${ms}${nodes === 0 ? "" : `, the slowest of ${plural(nodes, "node")} in ${slowest}`}`,
  nodeSilent: (id: string, why: string) => `node ${id}: its messages do not arrive; ${why}`,
  messagesRefused: (id: string, why: string) =>
    `node messages: those of ${id || "an unnamed node"} are refused; ${why}`,
  notEncrypted:
    "they are not encrypted; update that node if its version is old, or find out who else publishes on NATS under its name",
  otherKey: "it encrypts its messages with another key; set the same MASTER_ENCRYPTION_KEY there",
  refusedAs: (reason: string) => `they are ${reason}; check PAWL_CLUSTER on that node, and who else has access to NATS`,
  otherNats: "its version is too old, or its NATS_URL or PAWL_CLUSTER is different",
  milliseconds: (ms: number) => `${ms.toFixed(1)} ms`,

  freeSpace: (name: string, folder: string, gigabytes: string, isLittle: boolean) =>
    `${name}: ${folder}, ${gigabytes} GB free${isLittle ? "; free some space, or writes will fail" : ""}`,
  fsync: (name: string, ms: number) => `${name}: a write with fsync takes ${ms.toFixed(1)} ms`,
  slowFsync: (name: string, ms: number) =>
    `${name}: a write with fsync takes ${ms.toFixed(1)} ms; every commit waits for one, so use a faster disk`,
  inMemory: (name: string, folder: string) =>
    `${name}: ${folder} is in memory and lost when the machine stops; use a folder on a disk`,
  cannotWrite: (name: string, folder: string, reason: string) =>
    `${name}: ${folder} cannot be written: ${reason}; check its permissions and its disk`,

  durability: (setting: string, what: string) => `durability: ${setting}, ${what}`,
  durabilityProblem: (what: string) => `durability: ${what}`,
  relaxed: "durability: a power failure loses the last moments of work; to prevent this, set PAWL_DURABILITY=full",
  noWriteAheadLog: (mode: string | undefined) =>
    `SQLite cannot use its write-ahead log here (journal_mode is ${mode}); move the data folder (PAWL_DATA) to a local disk`,
  noSync: "SQLite does not sync to disk (synchronous is OFF); restart Pawl",
  sqliteInForce: (level: string, isFull: boolean) =>
    `SQLite with a write-ahead log, synchronous ${level}: ${isFull ? "every commit is synced before it is confirmed" : "the log is synced periodically"}`,
  postgresInForce: (settings: string) => `PostgreSQL with ${settings}`,

  filesUnavailable: (files: number, size: string) =>
    `attachments: ${plural(files, "file")} (${size}) cannot be read, because they are in a folder; set PAWL_FILES_FOLDER to it`,
  files: (folder: string, files: number, size: string) =>
    `attachments: ${plural(files, "file")} larger than 1 MB in ${folder} (${size})`,
  filesLost: (lost: number, folder: string) =>
    `attachments: ${plural(lost, "file")} missing in ${folder}; restore ${lost === 1 ? "it" : "them"} from a backup`,
  filesToRemove: (files: number, folder: string) =>
    `attachments: ${plural(files, "deleted file")} still in ${folder}; a server removes ${files === 1 ? "it" : "them"}`,

  masterKey: "master key: matches the database",
  clockWrong: (time: string) => `clock: this machine's time is ${time}; synchronize it with a time server (NTP)`,
  clock: (time: string) => `clock: this machine's time is ${time}`,
  clocksDiffer: (difference: string) =>
    `clocks: this machine is ${difference} the database; synchronize both with a time server (NTP)`,
  clocks: (difference: string) => `clocks: this machine is ${difference} the database`,
  noNodes: "nodes: no server is running on this database",
  nodeLine: (id: string, since: string, silentMs: number, leases: number) =>
    `node ${id}: running since ${since}, last heartbeat ${(silentMs / 1000).toFixed(1)} s ago, ${plural(leases, "lease")}`,
  nodeLate: "its heartbeat is late; check that it is running",
  nodeClock: (id: string, difference: string) => `node ${id}: its clock is ${difference} the database`,
  difference: (aheadMs: number) =>
    `${(Math.abs(aheadMs) / 1000).toFixed(Math.abs(aheadMs) < 1000 ? 3 : 1)} s ${aheadMs < 0 ? "behind" : "ahead of"}`,

  providerListed: (provider: string, models: number, ms: number) =>
    `provider ${provider}: answers with ${plural(models, "model")} (all providers within ${ms} ms)`,
  providerAnswers: (provider: string, ms: number) => `provider ${provider}: answers (all providers within ${ms} ms)`,
  providerFailed: (provider: string, problem: string | null | undefined) =>
    `provider ${provider}: ${problem ?? "it did not answer"}; check its key and its address`,
  providerSilent: (provider: string, seconds: number) =>
    `provider ${provider}: no answer within ${seconds} s; check its address and your proxies`,
  providerNoList: (provider: string) =>
    `provider ${provider}: reachable, but the key cannot be checked for free; try: pawl exec --model ${provider}/… "hello"`,
  providerUnasked: (provider: string) =>
    `provider ${provider}: configured, but the key cannot be checked for free; try: pawl exec --model ${provider}/… "hello"`,

  littleMemory: (gigabytes: string, flag: string) =>
    `memory: this process may reserve only ${gigabytes} GB (${flag}); Node reserves much more than it uses and stops when it ` +
    `cannot. Remove this limit and limit the memory in use instead, as containers do`,
  sandbox: "sandbox: bubblewrap works",
  noSandbox: (how: string, remedy: string | undefined) =>
    `sandbox: commands would run ${how}. ${remedy ?? ""}`.trimEnd(),

  averaged: "on average, from pg_stat_statements",
  measured: "measured now",
  statementsFast: (ms: number, by: string) => `SQL statements: none takes more than ${ms} ms (${by})`,
  statementSlow: (what: string, ms: number, by: string, advice: string) =>
    `SQL statements: ${what} takes ${ms.toFixed(0)} ms (${by}); ${advice}`,
  averagedOver: (calls: number) => `on average over ${plural(calls, "call")}, from pg_stat_statements`,
  fasterDisk: "move the data folder (PAWL_DATA) to a faster disk",
  analyze: "run ANALYZE, then check the statement with EXPLAIN",
  abandonedRuns: "the query for runs of failed nodes",
  doubtfulWrites: "the query for changes in doubt",
  longestConversation: "reading the longest conversation",

  tracesSent: (origin: string, protocol: string) => `traces: ${origin} accepts them as ${protocol}`,
  tracesRefused: (origin: string, status: number, advice: string) =>
    `traces: ${origin} answers with status ${status}; ${advice}`,
  tracesUnreachable: (origin: string) =>
    `traces: ${origin} cannot be reached; check OTEL_EXPORTER_OTLP_ENDPOINT and the receiver there`,
  tracesKey: "check OTEL_EXPORTER_OTLP_HEADERS",
  tracesPath: "check the path of OTEL_EXPORTER_OTLP_ENDPOINT; /v1/traces is added to it",
  tracesProtocol: "try the other OTEL_EXPORTER_OTLP_PROTOCOL",
  tracesLog: "check the receiver's log",
} as const
