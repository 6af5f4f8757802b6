import { REPLY_CHARACTERS } from "../../../core/engine/ask/reply.ts"
import { type ProviderVariable, allProviderSettings, secretsIn } from "../../../core/models/providers/settings.ts"
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
import { DEFAULT_LIMITS, DEFAULT_POLICY } from "../../../core/compose/open-engine.ts"
import {
  type Setting,
  type SettingValues,
  hasReadableLogin,
  isNats,
  passwordsIn,
  natsSecrets,
  setting,
  wholeText,
} from "./setting.ts"
import { mcpSetting } from "./mcp-file.ts"
import { peopleSettings } from "./people-settings.ts"
import { replySetting } from "./reply-settings.ts"
import { modelChoices } from "./model-choices.ts"
import { telemetrySettings } from "./telemetry.ts"

const server = {
  PAWL_HOST: setting(textLike(/^[\w.:-]{1,255}$/, "a host name or an address, such as 127.0.0.1"), {
    description: "The address to listen on. For any address other than this machine's own, use a proxy with TLS.",
    defaultValue: "127.0.0.1",
  }),
  PAWL_PORT: setting(numberFrom({ least: 0, most: 65_535, whole: true }), {
    description: "The port; 0 selects a free one.",
    defaultValue: 7295,
  }),
  PAWL_PUBLIC_URL: setting(httpAddress, {
    description:
      "The address that people use, if it differs from the listen address. Links use it, and requests for its host are accepted.",
  }),
  PAWL_ALLOWED_ORIGINS: setting(listOfItems(isOrigin, "origins such as https://app.example, separated by commas"), {
    description:
      "Other sites whose pages may use this server with tokens, never with a browser session (docs/reference/authentication.md).",
    defaultValue: [],
  }),
  PAWL_TRUSTED_PROXY: setting(listOfItems(isNetwork, "addresses or networks such as 10.0.0.0/8, separated by commas"), {
    description: "Proxies whose forwarding headers are trusted.",
    defaultValue: [],
  }),
  PAWL_RATE_LIMIT: setting(numberFrom({ least: 0, most: 1e9, whole: true }), {
    description: "The most requests per user and minute; 0 for no limit.",
    defaultValue: 60_000,
  }),
  PAWL_DRAIN_SECONDS: setting(numberFrom({ least: 0, most: 3600 }), {
    description:
      "How long requests are served after SIGTERM while `/readyz` returns `draining`, so that load balancers notice it first.",
    defaultValue: 0,
  }),
  PAWL_THREAD_PATHS: setting(onOrOff, {
    description:
      "Whether the thread dialect of earlier clients, and connections, are also served without the prefix `/api`.",
    defaultValue: false,
  }),
}

const data = {
  PAWL_DATA: setting(anyText, {
    description: "The folder for the database, keys and files.",
    defaultText: "`$XDG_DATA_HOME/pawl`, which is `~/.local/share/pawl` on most machines, for every command",
  }),
  PAWL_FILES_FOLDER: setting(anyText, {
    description:
      "A folder for attached files larger than 1 MB. Nodes that share a database must share it (docs/guide/attachments.md).",
    defaultText: "files are stored in the database",
  }),
  DATABASE_URL: setting(textLike(/^postgres(ql)?:\/\/./, "postgres://user:password@host/database"), {
    description: "The PostgreSQL database that stores all data.",
    defaultText: "SQLite, `pawl.db` in `PAWL_DATA`",
    secretsIn: passwordsIn,
  }),
  PAWL_DATABASE_CONNECTIONS: setting(numberFrom({ least: 1, most: 1000, whole: true }), {
    description:
      "The most connections that one server opens to PostgreSQL. All nodes together must stay below its `max_connections`.",
    defaultValue: 10,
  }),
  PGPASSWORD: setting(anyText, {
    description: "The password for `DATABASE_URL`, if the address has none. It needs no percent-encoding.",
    secretsIn: wholeText,
  }),
  PAWL_DURABILITY: setting(oneOf(["full", "normal"]), {
    description: "`full`: committed data survives a power failure. `normal`: it survives a crash of the process.",
    defaultValue: "full",
  }),
  MASTER_ENCRYPTION_KEY: setting(masterKey(), {
    description: "The key that encrypts stored secrets. Nodes that share a database need the same one.",
    defaultText: "generated once and stored as `master.key` in `PAWL_DATA`",
    secretsIn: wholeText,
  }),
  MASTER_ENCRYPTION_KEY_PREVIOUS: setting(masterKey(), {
    description: "The previous key. It is accepted until `pawl rotate-keys` has re-encrypted all secrets.",
    secretsIn: wholeText,
  }),
  NATS_URL: setting(
    textLike(
      { test: isNats },
      "nats://host:4222 or tls://host:4222, several separated by commas, with %25 for a % in a password",
    ),
    {
      description:
        "The NATS servers through which nodes of one PostgreSQL notify each other immediately. Put a user and password, or a token, before the host. A NATS server on another machine requires them, or `NATS_CREDS`.",
      secretsIn: natsSecrets,
    },
  ),
  NATS_CREDS: setting(anyText, { description: "A NATS credentials file (`.creds`)." }),
  PAWL_CLUSTER: setting(textLike(/^[A-Za-z0-9_-]{1,64}$/, "letters, digits, - and _"), {
    description:
      "The cluster's name on NATS. Clusters with different databases on one NATS server need different names.",
    defaultValue: "main",
  }),
  PAWL_NATS_WORDS: setting(onOrOff, {
    description:
      "Whether NATS may carry the text of messages. If not, nodes are only notified and read it from PostgreSQL.",
    defaultValue: true,
  }),
}

/** In the terminal and in an editor a person watches the work and can stop it. */
export const TERMINAL_RUN_SECONDS = 8 * 60 * 60

const runs = {
  PAWL_FORBID_AUTO: setting(onOrOff, {
    description: "Forbids the mode `auto`, so that every write needs approval.",
    defaultValue: false,
  }),
  PAWL_PROPOSAL_MINUTES: setting(numberFrom({ least: 0.01, most: 525_600 }), {
    description: "How long a proposal waits for a decision before it expires.",
    defaultValue: DEFAULT_POLICY.proposalMinutes,
  }),
  PAWL_RUN_SECONDS: setting(numberFrom({ least: 1, most: 86_400 }), {
    description: "How long one run may work, without the time it waits for people.",
    defaultText: `\`${DEFAULT_LIMITS.runSeconds}\` on a server, \`${TERMINAL_RUN_SECONDS}\` in the terminal (\`pawl chat\`, \`exec\`, \`acp\`)`,
  }),
  PAWL_REPLY_CHARACTERS: setting(numberFrom({ least: 1000, most: 4_000_000, whole: true }), {
    description: "The most characters in one reply.",
    defaultValue: REPLY_CHARACTERS,
  }),
  PAWL_FILES_MB: setting(numberFrom({ least: 0, most: 1_000_000 }), {
    description: "The most megabytes of attached files per user; 0 for none.",
    defaultValue: 1000,
  }),
  PAWL_PERSON_MEGABYTES: setting(numberFrom({ least: 1, most: 100_000_000 }), {
    description:
      "The most megabytes that each user may store: conversations, query results, tasks and notes, documents, files. At the limit, users can read and delete but not add. Use the same value for all processes that share a database.",
    defaultValue: USUAL_PERSON_BYTES / 1024 / 1024,
  }),
  PAWL_WEBHOOK_URL: setting(
    textLike(
      { test: (text) => /^https?:\/\/[^\s/]/.test(text) && URL.canParse(text) && hasReadableLogin(text) },
      "an address such as https://hooks.example/pawl, with %25 for a % in its password",
    ),
    {
      description: "The webhook to call when a proposal needs a decision; requires `PAWL_WEBHOOK_SECRET`.",
      secretsIn: passwordsIn,
    },
  ),
  PAWL_WEBHOOK_SECRET: setting(textLike(/^.{16,}$/, "at least 16 characters"), {
    description: "The key that signs webhook requests.",
    secretsIn: wholeText,
  }),
}

const models = {
  PAWL_MODEL: setting(anyText, {
    description: "The model for conversations that did not choose one.",
    defaultText:
      "the best model of the available providers, including local ones; without a provider, the small offline model. The last model that a user chose takes precedence",
  }),
  ...modelChoices,
  PAWL_SUMMARY_MODEL: setting(anyText, {
    description:
      "The model that summarizes conversations that are too long. If it fails, the conversation's own model does. `none`: no summaries; the oldest messages are dropped.",
    defaultText: "the conversation's own model",
  }),
  PAWL_MODEL_IDLE_SECONDS: setting(numberFrom({ least: 1, most: 86_400 }), {
    description: "How long a model may send nothing before its reply counts as interrupted.",
    defaultText: "`60`",
  }),
  PAWL_REPLY_SETTINGS: replySetting,
  ...providerSettings(),
  PAWL_BEDROCK: setting(onOrOff, {
    description:
      "Allows all users to use Amazon Bedrock with the credentials of the AWS account above, at its expense. Not needed for a Bedrock API key or users' own keys.",
    defaultValue: false,
  }),
  PAWL_PROVIDERS: setting(anyText, {
    description:
      "A JSON file with your own endpoints, each with a name, an address and headers (docs/reference/models.md).",
  }),
  PAWL_SHARED_KEYS: setting(onOrOff, {
    description: "Whether all users may use these keys, or must add their own.",
    defaultValue: true,
  }),
  PAWL_DAILY_LIMIT_USD: setting(numberFrom({ least: 0, most: 1_000_000 }), {
    description: "The most that one user may spend per day with the shared keys.",
  }),
  PAWL_RUN_LIMIT_USD: setting(numberFrom({ least: 0, most: 1_000_000 }), {
    description: "The most that one run, with its sub-agents, may spend with the shared keys.",
  }),
}

const outside = {
  PAWL_WEB_SEARCH: setting(readBy(readWebSearch, WEB_SEARCH_FORMS), {
    description: "The search engine for agents.",
    defaultValue: { provider: "duckduckgo" },
    defaultText: "`duckduckgo`, which needs no key",
    secretsIn: (text) => {
      const [, provider, rest = ""] = /^(\w+):(.+)$/.exec(text) ?? []
      return provider === "brave" || provider === "tavily" ? [rest] : passwordsIn(rest)
    },
  }),
  PAWL_PROJECT_RULES: setting(onOrOff, {
    description: "Whether the agent `files` follows AGENTS.md and CLAUDE.md of the folder and of your data folder.",
    defaultValue: true,
  }),
  PAWL_ALLOW_PRIVATE_HOSTS: setting(
    onOffOr(listOfItems((item) => /^[\w.:-]{1,255}$/.test(item), "names and addresses, separated by commas")),
    { description: "Private addresses that users may connect this server to.", defaultValue: false },
  ),
  PAWL_SQLITE_ROOT: setting(anyText, {
    description: "The folder for users' SQLite files: `<root>/<userId>/`, and `<root>/shared/`, which you fill.",
    defaultText: "`databases` in `PAWL_DATA`",
  }),
  PAWL_ALLOW_SUPERUSER_CONNECTIONS: setting(onOrOff, {
    description: "Allows users to connect to their PostgreSQL as a superuser.",
    defaultValue: false,
  }),
  HTTP_PROXY: setting(proxy(), {
    description: "The HTTP proxy for providers.",
    also: "http_proxy",
    secretsIn: passwordsIn,
  }),
  HTTPS_PROXY: setting(proxy(), { description: "The same for https.", also: "https_proxy", secretsIn: passwordsIn }),
  NO_PROXY: setting(anyText, { description: "Hosts that are connected to without a proxy.", also: "no_proxy" }),
}

const sight = {
  PAWL_LOG: setting(oneOf(logFormats), {
    description: "The format of the log on stderr.",
    defaultText: "`plain` at a terminal, otherwise `json`",
  }),
  PAWL_LOG_LEVEL: setting(oneOf(logLevels), { description: "The lowest level that is logged.", defaultValue: "info" }),
  ...telemetrySettings,
}

const extension = {
  PAWL_MCP: mcpSetting,
  PAWL_PACKS: setting(
    listOfItems(isPackName, "files such as ./my-pack.ts and packages such as @acme/pawl-pack, separated by commas"),
    {
      description:
        "Packs of your own or of others (docs/recipes/write-a-pack.md), resolved from the working folder. Their code runs with the server's permissions.",
      defaultValue: [],
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

/** All variables that Pawl reads: this table validates them, and docs/reference/settings.md is generated from it. */
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

/** The variables of each provider. */
function providerSettings(): Readonly<Record<ProviderVariable, Setting<string>>> {
  const entries = allProviderSettings.map(({ variable, says: description, also, isSecret, toAddress }) => {
    const about = { description, ...(also ? { also } : {}), ...(isSecret ? { secretsIn } : {}) }
    // The text is stored as it was set: each provider parses it in its own way.
    const isAddress = (text: string) => toAddress?.(text) !== undefined
    const kind = toAddress ? textLike({ test: isAddress }, "an address such as https://models.example/v1") : anyText
    return [variable, setting(kind, about)] as const
  })
  return Object.fromEntries(entries) as Record<ProviderVariable, Setting<string>>
}

function masterKey() {
  return readBy(toMasterKey, "32 bytes as base64 or hex, such as `openssl rand -base64 32` prints")
}

/** `proxy:3128` without a scheme is common. */
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

/** Whether the pack exists is checked when it is loaded. */
function isPackName(text: string): boolean {
  return text.length <= 1000 && !/\p{Cc}/u.test(text)
}

function isOrigin(text: string): boolean {
  return URL.parse(text)?.origin === text
}
