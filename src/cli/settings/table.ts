import { REPLY_CHARACTERS } from "../../agent/ask/stream-reply.ts"
import { type ProviderVariable, providerMeans, secretsIn } from "../../models/providers/settings.ts"
import { toNetwork } from "../../server/door/trusted-proxies.ts"
import { toMasterKey } from "../../store/people/master-keys.ts"
import { logFormats, logLevels } from "../process/log.ts"
import { anyText, httpAddress, listOfItems, numberFrom, onOffOr, oneOf, onOrOff, readBy, textLike } from "./kinds.ts"
import { USUAL_LIMITS } from "../../compose/open-engine.ts"
import { hasReadableLogin, itsPassword, setting, type Setting, type SettingValues, theWhole } from "./setting.ts"
import { mcpSetting } from "./mcp-file.ts"
import { isNats, natsSecrets } from "./nats.ts"
import { peopleSettings } from "./people-settings.ts"
import { replySetting } from "./reply-settings.ts"
import { modelChoices } from "./model-choices.ts"
import { telemetrySettings } from "./telemetry.ts"
import { readWebSearch, WEB_SEARCH_FORMS } from "./web-search.ts"

const server = {
  PAWL_HOST: setting(textLike(/^[\w.:-]{1,255}$/, "a host name or an address, such as 127.0.0.1"), {
    says: "The address to listen on. Anything but this machine's own should stand behind a proxy with TLS.",
    usually: "127.0.0.1",
  }),
  PAWL_PORT: setting(numberFrom({ least: 0, most: 65_535, whole: true }), {
    says: "The port; 0 for any free one.",
    usually: 7295,
  }),
  PAWL_PUBLIC_URL: setting(httpAddress, {
    says: "Where people reach the server, if not where it listens: links are made with it, and its host is answered.",
  }),
  PAWL_ALLOWED_ORIGINS: setting(listOfItems(isOrigin, "origins such as https://app.example, split by commas"), {
    says: "Other sites whose pages may use this server, with tokens; never with the session of a browser (docs/sign-in.md).",
    usually: [],
  }),
  PAWL_TRUSTED_PROXY: setting(listOfItems(isNetwork, "addresses or networks such as 10.0.0.0/8, split by commas"), {
    says: "Proxies whose word counts about where a request came from.",
    usually: [],
  }),
  PAWL_RATE_LIMIT: setting(numberFrom({ least: 0, most: 1e9, whole: true }), {
    says: "Requests that one person may make in a minute; 0 for as many as they like.",
    usually: 60_000,
  }),
  PAWL_DRAIN_SECONDS: setting(numberFrom({ least: 0, most: 3600 }), {
    says: "How long after SIGTERM requests are still served while `/readyz` says `draining`, so that a balancer sees it first.",
    usually: 0,
  }),
  PAWL_THREAD_PATHS: setting(onOrOff, {
    says: "Whether the thread dialect of earlier clients is also answered without `/api` before it.",
    usually: false,
  }),
}

const data = {
  PAWL_DATA: setting(anyText, {
    says: "The folder for database, keys and files.",
    usuallyInWords: "`.pawl` in the working folder; for `exec` and `chat` the person's own data folder",
  }),
  PAWL_FILES_FOLDER: setting(anyText, {
    says: "A folder for files in messages that are larger than 1 MB, and for nothing else. Nodes of one database share it (docs/message-files.md).",
    usuallyInWords: "they lie in the database",
  }),
  DATABASE_URL: setting(textLike(/^postgres(ql)?:\/\/./, "postgres://user:password@host/database"), {
    says: "A PostgreSQL database to keep everything in.",
    usuallyInWords: "SQLite, `pawl.db` in `PAWL_DATA`",
    secretsIn: itsPassword,
  }),
  PAWL_DATABASE_CONNECTIONS: setting(numberFrom({ least: 1, most: 1000, whole: true }), {
    says: "How many connections to PostgreSQL one server opens at most. All nodes together stay below its `max_connections`.",
    usually: 10,
  }),
  PGPASSWORD: setting(anyText, {
    says: "The password for `DATABASE_URL` where that holds none: here every letter stands for itself.",
    secretsIn: theWhole,
  }),
  PAWL_DURABILITY: setting(oneOf(["full", "normal"]), {
    says: "`full`: what was acknowledged survives a loss of power. `normal`: it survives the death of the process.",
    usually: "full",
  }),
  MASTER_ENCRYPTION_KEY: setting(masterKey(), {
    says: "What stored secrets are sealed with. Nodes of one database need the same one.",
    usuallyInWords: "made once, and kept as `master.key` in `PAWL_DATA`",
    secretsIn: theWhole,
  }),
  MASTER_ENCRYPTION_KEY_PREVIOUS: setting(masterKey(), {
    says: "The key before it, still accepted until `pawl rotate-keys` has sealed everything anew.",
    secretsIn: theWhole,
  }),
  NATS_URL: setting(
    textLike(
      { test: isNats },
      "nats://host:4222 or tls://host:4222, several split by commas, with %25 for a % in a password",
    ),
    {
      says: "The NATS by which the nodes of one PostgreSQL hear each other at once. With a name and password, or a token, before the host.",
      secretsIn: natsSecrets,
    },
  ),
  NATS_CREDS: setting(anyText, { says: "A file with credentials for it (`.creds`)." }),
  PAWL_CLUSTER: setting(textLike(/^[A-Za-z0-9_-]{1,64}$/, "letters, digits, - and _"), {
    says: "The name under which they find each other: servers of different databases on one NATS need different ones.",
    usually: "main",
  }),
  PAWL_NATS_WORDS: setting(onOrOff, {
    says: "Whether what people and models say may be carried by NATS. Where not, only that there is something to read in PostgreSQL.",
    usually: true,
  }),
}

const runs = {
  PAWL_FORBID_AUTO: setting(onOrOff, { says: "Whether no conversation may write without asking.", usually: false }),
  PAWL_PROPOSAL_MINUTES: setting(numberFrom({ least: 0.01, most: 525_600 }), {
    says: "How long a proposal waits for its person before it expires.",
    usually: 15,
  }),
  PAWL_RUN_SECONDS: setting(numberFrom({ least: 1, most: 86_400 }), {
    says: "How long one run may work; waiting for a person does not count.",
    usually: USUAL_LIMITS.runSeconds,
  }),
  PAWL_REPLY_CHARACTERS: setting(numberFrom({ least: 1000, most: 4_000_000, whole: true }), {
    says: "How long one reply of a model may be.",
    usually: REPLY_CHARACTERS,
  }),
  PAWL_FILES_MB: setting(numberFrom({ least: 0, most: 1_000_000 }), {
    says: "How many megabytes the files in one person's messages may take together; 0 for none.",
    usually: 1000,
  }),
  PAWL_WEBHOOK_URL: setting(
    textLike(
      { test: (text) => /^https?:\/\/[^\s/]/.test(text) && URL.canParse(text) && hasReadableLogin(text) },
      "an address such as https://hooks.example/pawl, with %25 for a % in its password",
    ),
    { says: "Where to tell that a proposal waits; needs `PAWL_WEBHOOK_SECRET`.", secretsIn: itsPassword },
  ),
  PAWL_WEBHOOK_SECRET: setting(textLike(/^.{16,}$/, "at least 16 characters"), {
    says: "What those messages are signed with.",
    secretsIn: theWhole,
  }),
}

const models = {
  PAWL_MODEL: setting(anyText, {
    says: "The model of conversations that chose none.",
    usuallyInWords: "nobody guesses: each conversation chooses; where there is no provider, a small offline one",
  }),
  ...modelChoices,
  PAWL_SUMMARY_MODEL: setting(anyText, {
    says: "Which model sums up a conversation that has grown too long for its own; where it fails, the own one does. `none`: nobody, and what was said first is cut off.",
    usuallyInWords: "the conversation's own",
  }),
  PAWL_MODEL_IDLE_SECONDS: setting(numberFrom({ least: 1, most: 86_400 }), {
    says: "How long a model may stay silent before its reply counts as broken off.",
    usuallyInWords: "`60`",
  }),
  PAWL_REPLY_SETTINGS: replySetting,
  ...providerSettings(),
  PAWL_BEDROCK: setting(onOrOff, {
    says: "Whether Amazon Bedrock may be used with the keys of the AWS account above, by everybody here and at its expense. A key of Bedrock's own, or a person's, needs no word.",
    usually: false,
  }),
  PAWL_PROVIDERS: setting(anyText, {
    says: "A JSON file with endpoints of your own, each with a name, an address and headers (docs/providers.md).",
  }),
  PAWL_SHARED_KEYS: setting(onOrOff, {
    says: "Whether these keys serve everybody, or people must bring their own.",
    usually: true,
  }),
  PAWL_DAILY_LIMIT_USD: setting(numberFrom({ least: 0, most: 1_000_000 }), {
    says: "What one person may spend in a day with the shared keys.",
  }),
  PAWL_RUN_LIMIT_USD: setting(numberFrom({ least: 0, most: 1_000_000 }), {
    says: "What one run may spend with the shared keys.",
  }),
}

const outside = {
  PAWL_WEB_SEARCH: setting(readBy(readWebSearch, WEB_SEARCH_FORMS), {
    says: "Who searches the web for agents.",
    usually: { provider: "duckduckgo" },
    usuallyInWords: "`duckduckgo`, which needs no key",
    secretsIn: (text) => {
      const [, provider, rest = ""] = /^(\w+):(.+)$/.exec(text) ?? []
      return provider === "brave" || provider === "tavily" ? [rest] : itsPassword(rest)
    },
  }),
  PAWL_ALLOW_PRIVATE_HOSTS: setting(
    onOffOr(listOfItems((item) => /^[\w.:-]{1,255}$/.test(item), "names and addresses split by commas")),
    { says: "Which private addresses people may make this server connect to.", usually: false },
  ),
  PAWL_SQLITE_ROOT: setting(anyText, {
    says: "Where SQLite files of people lie: `<root>/<userId>/`, and `<root>/shared/`, which you fill.",
    usuallyInWords: "`databases` in `PAWL_DATA`",
  }),
  PAWL_ALLOW_SUPERUSER_CONNECTIONS: setting(onOrOff, {
    says: "Whether people may come to their PostgreSQL as its superuser.",
    usually: false,
  }),
  HTTP_PROXY: setting(proxy(), {
    says: "What providers are reached through.",
    also: "http_proxy",
    secretsIn: itsPassword,
  }),
  HTTPS_PROXY: setting(proxy(), { says: "The same for https.", also: "https_proxy", secretsIn: itsPassword }),
  NO_PROXY: setting(anyText, { says: "Hosts that are reached without a proxy.", also: "no_proxy" }),
}

const sight = {
  PAWL_LOG: setting(oneOf(logFormats), {
    says: "How the log on stderr is written.",
    usuallyInWords: "`plain` at a terminal, otherwise `json`",
  }),
  PAWL_LOG_LEVEL: setting(oneOf(logLevels), { says: "From which level on.", usually: "info" }),
  ...telemetrySettings,
}

const extension = {
  PAWL_MCP: mcpSetting,
  PAWL_PACKS: setting(
    listOfItems(isPackName, "files such as ./my-pack.ts and packages such as @acme/pawl-pack, split by commas"),
    {
      says: "Packs of your own or of others (docs/packs.md), found from where Pawl is started. Their code runs with the server's rights.",
      usually: [],
    },
  ),
}

/** In the order of the reference. */
export const settingSections = {
  "The server": server,
  "What is kept": data,
  "Who comes in": peopleSettings,
  "Runs and writes": runs,
  Models: models,
  "The world outside": outside,
  "Log and traces": sight,
  "Your own packs": extension,
}

/** Every variable that Pawl reads, and the only place that says so: it validates, and docs/settings.md is printed from it. */
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
  const entries = providerMeans.map(({ variable, says, also, isSecret }) => {
    const about = { says, ...(also ? { also } : {}), ...(isSecret ? { secretsIn } : {}) }
    return [variable, setting(anyText, about)] as const
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
  }, "the address of an HTTP proxy, such as http://host:3128; for one that Pawl does not speak to, such as SOCKS, unset it for Pawl")
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
