import { REPLY_CHARACTERS } from "../../../core/engine/ask/reply.ts"
import { type ProviderVariable, providerMeans, secretsIn } from "../../../core/models/providers/settings.ts"
import { USUAL_PERSON_BYTES } from "../../../core/protocol/account/storage.ts"
import { toNetwork } from "../../../core/server/auth/origins.ts"
import { toMasterKey } from "../../../core/store/people/master-keys.ts"
import { logFormats, logLevels } from "../process/log.ts"
import {
  WEB_SEARCH_FORMS,
  anyText,
  httpAddress,
  listOfItems,
  numberFrom,
  onOffOr,
  onOrOff,
  oneOf,
  readBy,
  readWebSearch,
  textLike,
} from "./kinds.ts"
import { USUAL_LIMITS, USUAL_POLICY } from "../../../core/compose/open-engine.ts"
import {
  type Setting,
  type SettingValues,
  hasReadableLogin,
  isNats,
  itsPassword,
  natsSecrets,
  setting,
  theWhole,
} from "./setting.ts"
import { mcpSetting } from "./mcp-file.ts"
import { peopleSettings } from "./people-settings.ts"
import { replySetting } from "./reply-settings.ts"
import { modelChoices } from "./model-choices.ts"
import { telemetrySettings } from "./telemetry.ts"

const server = {
  PAWL_HOST: setting(textLike(/^[\w.:-]{1,255}$/, "a host name or an address, such as 127.0.0.1"), {
    says: "The address to listen on. For any address other than this machine's own, use a proxy with TLS.",
    usually: "127.0.0.1",
  }),
  PAWL_PORT: setting(numberFrom({ least: 0, most: 65_535, whole: true }), {
    says: "The port; 0 selects a free one.",
    usually: 7295,
  }),
  PAWL_PUBLIC_URL: setting(httpAddress, {
    says: "The address that people use, if it differs from the listen address. Links use it, and requests for its host are accepted.",
  }),
  PAWL_ALLOWED_ORIGINS: setting(listOfItems(isOrigin, "origins such as https://app.example, separated by commas"), {
    says: "Other sites whose pages may use this server with tokens, never with a browser session (docs/reference/authentication.md).",
    usually: [],
  }),
  PAWL_TRUSTED_PROXY: setting(listOfItems(isNetwork, "addresses or networks such as 10.0.0.0/8, separated by commas"), {
    says: "Proxies whose forwarding headers are trusted.",
    usually: [],
  }),
  PAWL_RATE_LIMIT: setting(numberFrom({ least: 0, most: 1e9, whole: true }), {
    says: "The most requests per user and minute; 0 for no limit.",
    usually: 60_000,
  }),
  PAWL_DRAIN_SECONDS: setting(numberFrom({ least: 0, most: 3600 }), {
    says: "How long requests are served after SIGTERM while `/readyz` returns `draining`, so that load balancers notice it first.",
    usually: 0,
  }),
  PAWL_THREAD_PATHS: setting(onOrOff, {
    says: "Whether the thread dialect of earlier clients, and connections, are also served without the prefix `/api`.",
    usually: false,
  }),
}

const data = {
  PAWL_DATA: setting(anyText, {
    says: "The folder for the database, keys and files.",
    usuallyInWords: "`$XDG_DATA_HOME/pawl`, which is `~/.local/share/pawl` on most machines, for every command",
  }),
  PAWL_FILES_FOLDER: setting(anyText, {
    says: "A folder for attached files larger than 1 MB. Nodes that share a database must share it (docs/guide/attachments.md).",
    usuallyInWords: "files are stored in the database",
  }),
  DATABASE_URL: setting(textLike(/^postgres(ql)?:\/\/./, "postgres://user:password@host/database"), {
    says: "The PostgreSQL database that stores all data.",
    usuallyInWords: "SQLite, `pawl.db` in `PAWL_DATA`",
    secretsIn: itsPassword,
  }),
  PAWL_DATABASE_CONNECTIONS: setting(numberFrom({ least: 1, most: 1000, whole: true }), {
    says: "The most connections that one server opens to PostgreSQL. All nodes together must stay below its `max_connections`.",
    usually: 10,
  }),
  PGPASSWORD: setting(anyText, {
    says: "The password for `DATABASE_URL`, if the address has none. It needs no percent-encoding.",
    secretsIn: theWhole,
  }),
  PAWL_DURABILITY: setting(oneOf(["full", "normal"]), {
    says: "`full`: committed data survives a power failure. `normal`: it survives a crash of the process.",
    usually: "full",
  }),
  MASTER_ENCRYPTION_KEY: setting(masterKey(), {
    says: "The key that encrypts stored secrets. Nodes that share a database need the same one.",
    usuallyInWords: "generated once and stored as `master.key` in `PAWL_DATA`",
    secretsIn: theWhole,
  }),
  MASTER_ENCRYPTION_KEY_PREVIOUS: setting(masterKey(), {
    says: "The previous key. It is accepted until `pawl rotate-keys` has re-encrypted all secrets.",
    secretsIn: theWhole,
  }),
  NATS_URL: setting(
    textLike(
      { test: isNats },
      "nats://host:4222 or tls://host:4222, several separated by commas, with %25 for a % in a password",
    ),
    {
      says: "The NATS servers through which nodes of one PostgreSQL notify each other immediately. Put a user and password, or a token, before the host. A NATS server on another machine requires them, or `NATS_CREDS`.",
      secretsIn: natsSecrets,
    },
  ),
  NATS_CREDS: setting(anyText, { says: "A NATS credentials file (`.creds`)." }),
  PAWL_CLUSTER: setting(textLike(/^[A-Za-z0-9_-]{1,64}$/, "letters, digits, - and _"), {
    says: "The cluster's name on NATS. Clusters with different databases on one NATS server need different names.",
    usually: "main",
  }),
  PAWL_NATS_WORDS: setting(onOrOff, {
    says: "Whether NATS may carry the text of messages. If not, nodes are only notified and read it from PostgreSQL.",
    usually: true,
  }),
}

/** In the terminal and in an editor a person watches the work and can stop it. */
export const TERMINAL_RUN_SECONDS = 8 * 60 * 60

const runs = {
  PAWL_FORBID_AUTO: setting(onOrOff, {
    says: "Forbids the mode `auto`, so that every write needs approval.",
    usually: false,
  }),
  PAWL_PROPOSAL_MINUTES: setting(numberFrom({ least: 0.01, most: 525_600 }), {
    says: "How long a proposal waits for a decision before it expires.",
    usually: USUAL_POLICY.proposalMinutes,
  }),
  PAWL_RUN_SECONDS: setting(numberFrom({ least: 1, most: 86_400 }), {
    says: "How long one run may work, without the time it waits for people.",
    usuallyInWords: `\`${USUAL_LIMITS.runSeconds}\` on a server, \`${TERMINAL_RUN_SECONDS}\` in the terminal (\`pawl chat\`, \`exec\`, \`acp\`)`,
  }),
  PAWL_REPLY_CHARACTERS: setting(numberFrom({ least: 1000, most: 4_000_000, whole: true }), {
    says: "The most characters in one reply.",
    usually: REPLY_CHARACTERS,
  }),
  PAWL_FILES_MB: setting(numberFrom({ least: 0, most: 1_000_000 }), {
    says: "The most megabytes of attached files per user; 0 for none.",
    usually: 1000,
  }),
  PAWL_PERSON_MEGABYTES: setting(numberFrom({ least: 1, most: 100_000_000 }), {
    says: "The most megabytes that each user may store: conversations, query results, tasks and notes, documents, files. At the limit, users can read and delete but not add. Use the same value for all processes that share a database.",
    usually: USUAL_PERSON_BYTES / 1024 / 1024,
  }),
  PAWL_WEBHOOK_URL: setting(
    textLike(
      { test: (text) => /^https?:\/\/[^\s/]/.test(text) && URL.canParse(text) && hasReadableLogin(text) },
      "an address such as https://hooks.example/pawl, with %25 for a % in its password",
    ),
    {
      says: "The webhook to call when a proposal needs a decision; requires `PAWL_WEBHOOK_SECRET`.",
      secretsIn: itsPassword,
    },
  ),
  PAWL_WEBHOOK_SECRET: setting(textLike(/^.{16,}$/, "at least 16 characters"), {
    says: "The key that signs webhook requests.",
    secretsIn: theWhole,
  }),
}

const models = {
  PAWL_MODEL: setting(anyText, {
    says: "The model for conversations that did not choose one.",
    usuallyInWords:
      "the best model of the available providers, including local ones; without a provider, the small offline model. The last model that a user chose takes precedence",
  }),
  ...modelChoices,
  PAWL_SUMMARY_MODEL: setting(anyText, {
    says: "The model that summarizes conversations that are too long. If it fails, the conversation's own model does. `none`: no summaries; the oldest messages are dropped.",
    usuallyInWords: "the conversation's own model",
  }),
  PAWL_MODEL_IDLE_SECONDS: setting(numberFrom({ least: 1, most: 86_400 }), {
    says: "How long a model may send nothing before its reply counts as interrupted.",
    usuallyInWords: "`60`",
  }),
  PAWL_REPLY_SETTINGS: replySetting,
  ...providerSettings(),
  PAWL_BEDROCK: setting(onOrOff, {
    says: "Allows all users to use Amazon Bedrock with the credentials of the AWS account above, at its expense. Not needed for a Bedrock API key or users' own keys.",
    usually: false,
  }),
  PAWL_PROVIDERS: setting(anyText, {
    says: "A JSON file with your own endpoints, each with a name, an address and headers (docs/reference/models.md).",
  }),
  PAWL_SHARED_KEYS: setting(onOrOff, {
    says: "Whether all users may use these keys, or must add their own.",
    usually: true,
  }),
  PAWL_DAILY_LIMIT_USD: setting(numberFrom({ least: 0, most: 1_000_000 }), {
    says: "The most that one user may spend per day with the shared keys.",
  }),
  PAWL_RUN_LIMIT_USD: setting(numberFrom({ least: 0, most: 1_000_000 }), {
    says: "The most that one run may spend with the shared keys.",
  }),
}

const outside = {
  PAWL_WEB_SEARCH: setting(readBy(readWebSearch, WEB_SEARCH_FORMS), {
    says: "The search engine for agents.",
    usually: { provider: "duckduckgo" },
    usuallyInWords: "`duckduckgo`, which needs no key",
    secretsIn: (text) => {
      const [, provider, rest = ""] = /^(\w+):(.+)$/.exec(text) ?? []
      return provider === "brave" || provider === "tavily" ? [rest] : itsPassword(rest)
    },
  }),
  PAWL_ALLOW_PRIVATE_HOSTS: setting(
    onOffOr(listOfItems((item) => /^[\w.:-]{1,255}$/.test(item), "names and addresses, separated by commas")),
    { says: "Private addresses that users may connect this server to.", usually: false },
  ),
  PAWL_SQLITE_ROOT: setting(anyText, {
    says: "The folder for users' SQLite files: `<root>/<userId>/`, and `<root>/shared/`, which you fill.",
    usuallyInWords: "`databases` in `PAWL_DATA`",
  }),
  PAWL_ALLOW_SUPERUSER_CONNECTIONS: setting(onOrOff, {
    says: "Allows users to connect to their PostgreSQL as a superuser.",
    usually: false,
  }),
  HTTP_PROXY: setting(proxy(), {
    says: "The HTTP proxy for providers.",
    also: "http_proxy",
    secretsIn: itsPassword,
  }),
  HTTPS_PROXY: setting(proxy(), { says: "The same for https.", also: "https_proxy", secretsIn: itsPassword }),
  NO_PROXY: setting(anyText, { says: "Hosts that are connected to without a proxy.", also: "no_proxy" }),
}

const sight = {
  PAWL_LOG: setting(oneOf(logFormats), {
    says: "The format of the log on stderr.",
    usuallyInWords: "`plain` at a terminal, otherwise `json`",
  }),
  PAWL_LOG_LEVEL: setting(oneOf(logLevels), { says: "The lowest level that is logged.", usually: "info" }),
  ...telemetrySettings,
}

const extension = {
  PAWL_MCP: mcpSetting,
  PAWL_PACKS: setting(
    listOfItems(isPackName, "files such as ./my-pack.ts and packages such as @acme/pawl-pack, separated by commas"),
    {
      says: "Packs of your own or of others (docs/recipes/write-a-pack.md), resolved from the working folder. Their code runs with the server's permissions.",
      usually: [],
    },
  ),
}

/** In the order of the reference. */
export const settingSections = {
  "The server": server,
  Storage: data,
  "Sign-in": peopleSettings,
  "Runs and writes": runs,
  Models: models,
  Network: outside,
  "Log and traces": sight,
  Packs: extension,
}

/** Every variable that Pawl reads, and the only place that says so: it validates, and docs/reference/settings.md is printed from it. */
export const settingTable = {
  ...server,
  ...data,
  ...peopleSettings,
  ...runs,
  ...models,
  ...outside,
  ...sight,
  ...extension,
}

export type Values = SettingValues<typeof settingTable>

/** What each provider of the list is set by. */
function providerSettings(): Readonly<Record<ProviderVariable, Setting<string>>> {
  const entries = providerMeans.map(({ variable, says, also, isSecret, toAddress }) => {
    const about = { says, ...(also ? { also } : {}), ...(isSecret ? { secretsIn } : {}) }
    // The text as it was set: each provider reads it in its own way.
    const isAddress = (text: string) => toAddress?.(text) !== undefined
    const kind = toAddress ? textLike({ test: isAddress }, "an address such as https://models.example/v1") : anyText
    return [variable, setting(kind, about)] as const
  })
  return Object.fromEntries(entries) as Record<ProviderVariable, Setting<string>>
}

function masterKey() {
  return readBy(toMasterKey, "32 bytes as base64 or hex, such as `openssl rand -base64 32` prints")
}

/** `proxy:3128` is how many write it. */
function proxy() {
  return readBy((text) => {
    const url = URL.parse(/^[a-z][a-z\d+.-]*:\/\//i.test(text) ? text : `http://${text}`)
    return url && /^https?:$/.test(url.protocol) ? url.href : undefined
  }, "the address of an HTTP proxy, such as http://host:3128; other proxies such as SOCKS are not supported, so unset it for Pawl")
}

function isNetwork(text: string): boolean {
  try {
    return toNetwork(text) !== undefined
  } catch {
    return false
  }
}

/** Whether there is such a pack is found out when it is loaded. */
function isPackName(text: string): boolean {
  return text.length <= 1000 && !/\p{Cc}/u.test(text)
}

function isOrigin(text: string): boolean {
  return URL.parse(text)?.origin === text
}
