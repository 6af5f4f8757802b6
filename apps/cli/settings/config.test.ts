import { mkdtempSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import pg from "pg"
import { describe, expect, test } from "vitest"
import { allProviderSettings } from "../../../core/models/providers/settings.ts"
import { ModelRegistry } from "../../../core/models/registry.ts"
import { RecentSecrets } from "../../../core/models/providers/errors/recent-secrets.ts"
import { readConfig } from "./config.ts"
import { CommandError } from "../process/command.ts"
import { createLog } from "../process/log.ts"
import { settingsIn } from "../../../core/compose/settings.ts"

test.each(allProviderSettings.flatMap(({ variable, toAddress }) => (toAddress ? [variable] : [])))(
  "%s that is no address is refused, so that no provider is silently left out",
  (variable) => {
    for (const text of ["ftp://models.example", "http://", "not a url"])
      expect(() => readConfig({ [variable]: text })).toThrow(`${variable} cannot be "${text}". Allowed: an address`)
    expect(readConfig({ [variable]: "http://127.0.0.1:1234/v1" }).models).not.toEqual({})
  },
)

test("commands get what the sandbox's list of variables names, and no key", () => {
  const text_ = { PATH: "/usr/bin", JAVA_HOME: "/opt/jdk", HTTPS_PROXY: "http://a:b@proxy:1", OPENAI_API_KEY: "sk-1" }
  expect(readConfig(text_).commandEnvironment).toEqual({
    ...{ PATH: "/usr/bin", JAVA_HOME: "/opt/jdk", HTTPS_PROXY: "http://proxy:1", TERM: "dumb", CI: "1" },
  })
})

test("OPENAI_BASE_URL=notaurl is refused", () => {
  expect(() => readConfig({ OPENAI_BASE_URL: "notaurl" })).toThrow(CommandError)
})

test("without settings there is one right way for everything", () => {
  expect(readConfig({ HOME: "/home/ada" })).toEqual({
    host: "127.0.0.1",
    offlineModel: expect.any(Function),
    localEmbedder: expect.any(Function),
    port: 7295,
    drainSeconds: 0,
    dataFolder: "/home/ada/.local/share/pawl",
    usesUsualDataFolder: true,
    projectRules: true,
    databaseUrl: "file:/home/ada/.local/share/pawl/pawl.db",
    databaseConnections: 10,
    nats: undefined,
    durability: "full",
    publicUrl: undefined,
    allowedOrigins: [],
    trustedProxies: [],
    requestsPerMinute: 60_000,
    jwt: undefined,
    policy: { proposalMinutes: 10_080, forbidAuto: false },
    usesUsualRunSeconds: true,
    limits: { runSeconds: 1800, replyCharacters: 1_000_000 },
    reply: {},
    fallback: [],
    models: {},
    localModelServers: ["http://127.0.0.1:11434", "http://127.0.0.1:1234"],
    masterKey: undefined,
    previousMasterKey: undefined,
    sharedKeys: true,
    privateHosts: false,
    sqliteRoot: "/home/ada/.local/share/pawl/databases",
    superuserConnections: false,
    threadPaths: false,
    personBytes: 2048 * 1024 * 1024,
    bytesOfFiles: 1000 * 1024 * 1024,
    ceilings: {},
    webSearch: { provider: "duckduckgo" },
    packs: [],
    mcp: [],
    mcpFile: "/home/ada/.local/share/pawl/mcp.json",
    commandEnvironment: expect.any(Object),
    log: { format: expect.stringMatching(/^(json|plain)$/), level: "info" }, // plain at a terminal
    secrets: [],
    warnings: [],
  })
})

test("settings arrive where they belong, blanks are absent, flags come before the environment", () => {
  const config = readConfig(
    {
      PAWL_PORT: "8000",
      PAWL_HOST: "0.0.0.0",
      PAWL_DATA: "/data",
      PAWL_DURABILITY: "normal",
      PAWL_PUBLIC_URL: "https://pawl.example",
      PAWL_ALLOWED_ORIGINS: "https://a.example, https://b.example",
      PAWL_TRUSTED_PROXY: "10.0.0.0/8, ::1",
      PAWL_RATE_LIMIT: "0",
      PAWL_JWT_SECRET: "0123456789abcdef0123456789abcdef",
      PAWL_JWT_ISSUER: "https://id.example",
      PAWL_FORBID_AUTO: "yes",
      PAWL_PROPOSAL_MINUTES: "0.5",
      PAWL_RUN_SECONDS: "60",
      PAWL_REPLY_CHARACTERS: "5000",
      PAWL_MODEL: "qwen",
      PAWL_MODEL_IDLE_SECONDS: "30",
      LM_STUDIO_ENDPOINT: "http://127.0.0.1:1234",
      OPENAI_API_KEY: "  ",
    },
    { PAWL_PORT: "9000", PAWL_HOST: undefined },
  )
  expect(config).toMatchObject({
    port: 9000,
    host: "0.0.0.0",
    databaseUrl: "file:/data/pawl.db",
    durability: "normal",
    publicUrl: "https://pawl.example",
    allowedOrigins: ["https://a.example", "https://b.example"],
    trustedProxies: ["10.0.0.0/8", "::1"],
    requestsPerMinute: 0,
    jwt: { secret: "0123456789abcdef0123456789abcdef", issuer: "https://id.example" },
    policy: { proposalMinutes: 0.5, forbidAuto: true },
    usesUsualRunSeconds: false,
    limits: { runSeconds: 60, replyCharacters: 5000 },
    models: {
      defaultModel: "qwen",
      idleSeconds: 30,
      lmStudioEndpoint: "http://127.0.0.1:1234",
      openaiApiKey: undefined,
    },
    warnings: [],
  })
})

describe("a bad value is refused with its name, itself and what is allowed", () => {
  test.each([
    ["PAWL_PORT", "http", "a whole number from 0 to 65535"],
    ["PAWL_PORT", "70000", "a whole number from 0 to 65535"],
    ["PAWL_PORT", "80.5", "a whole number from 0 to 65535"],
    ["PAWL_HOST", "a b", "a host name"],
    ["PAWL_DURABILITY", "fast", "full or normal"],
    ["PAWL_FORBID_AUTO", "maybe", "true or false"],
    ["PAWL_PUBLIC_URL", "pawl.example", "https://pawl.example"],
    ["PAWL_ALLOWED_ORIGINS", "https://a.example/path", "https://app.example"],
    ["PAWL_TRUSTED_PROXY", "proxy.example", "10.0.0.0/8"],
    ["PAWL_TRUSTED_PROXY", "10.0.0.0/33", "10.0.0.0/8"],
    ["PAWL_RATE_LIMIT", "-1", "a whole number from 0"],
    ["PAWL_JWKS_URL", "keys", "an address"],
    ["PAWL_JWT_ISSUER", "my issuer", "https://id.example"],
    ["PAWL_PROPOSAL_MINUTES", "0", "a number from 0.01"],
    ["PAWL_RUN_SECONDS", "-1", "a number from 1"],
    ["PAWL_REPLY_CHARACTERS", "12", "a whole number from 1000"],
    ["PAWL_MODEL_IDLE_SECONDS", "long", "a number from 1"],
    ["PAWL_SHARED_KEYS", "maybe", "true or false"],
    ["PAWL_DAILY_LIMIT_USD", "-1", "a number from 0"],
    ["PAWL_RUN_LIMIT_USD", "much", "a number from 0"],
    ["PAWL_ALLOW_PRIVATE_HOSTS", "http://db/", "names and addresses, separated by commas"],
  ])("%s=%s", (name, value, allowed) => {
    const read = () => readConfig({ [name]: value })
    expect(read).toThrow(`${name} cannot be "${value}"`)
    expect(read).toThrow(allowed)
  })

  test("but a secret is not repeated", () => {
    const read = () => readConfig({ DATABASE_URL: "mysql://root:hunter2@db/x" })
    expect(read).toThrow("postgres://user:password@host/database")
    expect(read).not.toThrow("hunter2")
    const hook = () => readConfig({ PAWL_WEBHOOK_URL: "ftp://hooks.example/hunter2" })
    expect(hook).toThrow("PAWL_WEBHOOK_URL has a value that is not allowed")
    expect(hook).not.toThrow("hunter2")
  })
})

test("a master key has 32 bytes, and a bad one is not repeated", () => {
  const hex = "0123456789abcdef".repeat(4)
  const { masterKey, previousMasterKey, secrets } = readConfig({
    MASTER_ENCRYPTION_KEY: hex,
    MASTER_ENCRYPTION_KEY_PREVIOUS: Buffer.from(hex, "hex").toString("base64"),
  })
  expect(masterKey?.id).toBe(previousMasterKey?.id)
  expect(secrets).toContain(hex)
  const read = () => readConfig({ MASTER_ENCRYPTION_KEY: "hunter2-hunter2" })
  expect(read).toThrow("32 bytes as base64 or hex")
  expect(read).not.toThrow("hunter2")
  const { warnings } = readConfig({ DATABASE_URL: "postgres://u@db/x" })
  expect(warnings).toEqual([expect.stringMatching(/^MASTER_ENCRYPTION_KEY is not set.*Other nodes/)])
})

test.each([
  ["off", false],
  ["ON", true],
  ["Models.lan, 10.0.0.7", ["models.lan", "10.0.0.7"]],
])("PAWL_ALLOW_PRIVATE_HOSTS=%s", (text, hosts) => {
  expect(readConfig({ PAWL_ALLOW_PRIVATE_HOSTS: text }).privateHosts).toEqual(hosts)
})

test("ceilings and shared keys arrive where they belong", () => {
  const settings = { PAWL_DAILY_LIMIT_USD: "2.5", PAWL_RUN_LIMIT_USD: "0", PAWL_SHARED_KEYS: "off" }
  expect(readConfig(settings)).toMatchObject({ ceilings: { dailyUsd: 2.5, runUsd: 0 }, sharedKeys: false })
})

test("keys of an AWS account that are there for other programs are not used until the operator allows it", () => {
  const keys = {
    AWS_ACCESS_KEY_ID: "AKID",
    AWS_SECRET_ACCESS_KEY: "secret-of-aws-0123",
    AWS_SESSION_TOKEN: "session-0123",
  }
  const environment = { ...keys, AWS_REGION: "eu-central-1" }
  const silent = readConfig(environment)
  const needs = new ModelRegistry(silent.models).needOf("bedrock")
  expect(needs).toContain("AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, with PAWL_BEDROCK=on")
  expect(JSON.stringify(silent.models)).not.toMatch(/AKID|0123/)
  expect(silent.secrets).toEqual(expect.arrayContaining(["secret-of-aws-0123", "session-0123"]))
  const chosen = readConfig({ ...environment, PAWL_BEDROCK: "on" })
  expect(chosen.models).toMatchObject({ awsAccessKeyId: "AKID", awsSessionToken: "session-0123" })
  expect(new ModelRegistry(chosen.models).needOf("bedrock")).toBeNull()
  const named = readConfig({ ...environment, AWS_BEARER_TOKEN_BEDROCK: "key-of-bedrock" })
  expect(new ModelRegistry(named.models).needOf("bedrock")).toBeNull()
})

test("a log line holds no key of a person", () => {
  const secrets = new RecentSecrets(["operator-0123456789"])
  const lines: string[] = []
  const log = createLog(secrets, (line) => lines.push(line))
  secrets.add("ada", ["first-of-ada-0123"])
  for (let i = 0; i < 1999; i++) secrets.add(`person-${i}`, [`some-${i}-0123`])
  log.warn("x", { text: "operator-0123456789 first-of-ada-0123 some-7-0123" })
  secrets.add("ada", ["first-of-ada-0123"]) // used again
  secrets.add("bob", ["one-too-many"])
  expect([...secrets]).toHaveLength(2001)
  expect([...secrets]).toContain("first-of-ada-0123")
  expect([...secrets]).not.toContain("some-0-0123")
  expect(lines.join("")).not.toMatch(/0123/)
})

test("very many keys of one person do not push out other people's, and a key that was replaced is hidden for a while", () => {
  const secrets = new RecentSecrets([])
  secrets.add("ada", ["old-0123"])
  secrets.add("ada", ["new-0123"])
  for (let round = 0; round < 50; round++) {
    secrets.add(
      "mallory",
      Array.from({ length: 468 }, (_, line) => `line-${round}-${line}`),
    )
  }
  expect([...secrets].slice(0, 2)).toEqual(["new-0123", "old-0123"])
  expect([...secrets]).toHaveLength(102)
})

test("a webhook needs an address and a secret that is worth the name", () => {
  const PAWL_WEBHOOK_URL = "https://hooks.example/pawl"
  expect(() => readConfig({ PAWL_WEBHOOK_URL })).toThrow("PAWL_WEBHOOK_URL needs PAWL_WEBHOOK_SECRET")
  const short = () => readConfig({ PAWL_WEBHOOK_URL, PAWL_WEBHOOK_SECRET: "hunter2" })
  expect(short).toThrow("at least 16 characters")
  expect(short).not.toThrow("hunter2")
  expect(() => readConfig({ PAWL_WEBHOOK_URL: "http://[", PAWL_WEBHOOK_SECRET: "x".repeat(16) })).toThrow(
    "an address such as https://hooks.example",
  )
  const { webhook, secrets } = readConfig({ PAWL_WEBHOOK_URL, PAWL_WEBHOOK_SECRET: "0123456789abcdef" })
  expect(webhook).toEqual({ url: PAWL_WEBHOOK_URL, secret: "0123456789abcdef" })
  expect(secrets).toEqual(["0123456789abcdef"])
})

describe("the issuer of JWTs is configured completely or not at all", () => {
  const secret = "short-but-sweet-0123456789"
  const long = `${secret}${secret}`
  test.each<[settings: Record<string, string>, words: string]>([
    [{ PAWL_JWT_SECRET: secret, PAWL_JWT_ISSUER: "i" }, "at least 32 bytes"],
    [{ PAWL_JWT_SECRET: long }, "without PAWL_JWT_ISSUER"],
    [{ PAWL_JWKS_URL: "https://id.example/keys" }, "without PAWL_JWT_ISSUER"],
    [{ PAWL_JWT_ISSUER: "https://id.example" }, "PAWL_JWT_ISSUER is set without PAWL_JWT_SECRET or PAWL_JWKS_URL"],
    [{ PAWL_JWT_AUDIENCE: "pawl" }, "PAWL_JWT_AUDIENCE is set without"],
    [{ PAWL_JWT_SECRET: long, PAWL_JWKS_URL: "https://id.example/keys", PAWL_JWT_ISSUER: "i" }, "both set"],
  ])("%j", (settings, words) => {
    expect(() => readConfig(settings)).toThrow(words)
    expect(() => readConfig(settings)).not.toThrow(secret)
  })
})

test("an unknown PAWL_ name is a warning of one line, with the name that was probably meant", () => {
  const { warnings } = readConfig({ PAWL_PROT: "1", PAWL_COLOUR_OF_THE_SKY: "blue", HOME: "/root" })
  expect(warnings).toEqual([
    `PAWL_PROT is not a setting and has no effect. Did you mean "PAWL_PORT"? See docs/reference/settings.md.`,
    "PAWL_COLOUR_OF_THE_SKY is not a setting and has no effect. See docs/reference/settings.md.",
  ])
})

test("PAWL_URL causes no warning, because the docs use it for other programs", () => {
  expect(readConfig({ PAWL_URL: "http://127.0.0.1:7295", HOME: "/root" }).warnings).toEqual([])
})

test("packs are split by commas, and may have blanks in their paths", () => {
  expect(readConfig({}).packs).toEqual([])
  const { packs, warnings } = readConfig({ PAWL_PACKS: "./my pack.ts, @acme/pawl-pack,," })
  expect([packs, warnings]).toEqual([["./my pack.ts", "@acme/pawl-pack"], []])
  expect(() => readConfig({ PAWL_PACKS: "./my\npack.ts" })).toThrow("PAWL_PACKS cannot be")
})

test("NATS is found by its address, and does nothing with a database file, which belongs to one process", () => {
  const DATABASE_URL = "postgres://u:p@db/x"
  const { nats, secrets, warnings } = readConfig({
    ...{ DATABASE_URL, MASTER_ENCRYPTION_KEY: "a".repeat(64), PAWL_CLUSTER: "blue", PAWL_NATS_WORDS: "0" },
    NATS_URL: "nats://pawl:s3cret@one:4222, nats://t0ken@two:4222",
  })
  expect(nats).toMatchObject({ cluster: "blue", carriesText: false, credentialsFile: undefined })
  expect([secrets.includes("s3cret"), secrets.includes("t0ken"), warnings]).toEqual([true, true, []])
  expect(readConfig({ NATS_URL: "nats://one" }).warnings).toEqual([
    expect.stringContaining("no effect without DATABASE_URL"),
  ])
  expect(() => readConfig({ NATS_URL: "http://one" })).toThrow("NATS_URL has a value that is not allowed")
  // The second one is valid only if name and password were one text.
  for (const login of ["100%zz", "ada%C3:%A4pfel"])
    expect(() => readConfig({ NATS_URL: `nats://${login}@one` })).toThrow("NATS_URL has a value that is not allowed")
  expect(() => readConfig({ PAWL_CLUSTER: "a.b" })).toThrow("PAWL_CLUSTER cannot be")
})

test("every PAWL_ name of the contract is known", () => {
  const names =
    "PORT HOST DATA MODEL PUBLIC_URL TRUSTED_PROXY FORBID_AUTO PROPOSAL_MINUTES RUN_SECONDS MODEL_IDLE_SECONDS PACKS WEBHOOK_URL WEB_SEARCH DURABILITY JWT_SECRET JWKS_URL JWT_ISSUER JWT_AUDIENCE RATE_LIMIT ALLOWED_ORIGINS ALLOW_PRIVATE_HOSTS SQLITE_ROOT"
  const blank = Object.fromEntries(names.split(" ").map((name) => [`PAWL_${name}`, ""]))
  expect(readConfig(blank).warnings).toEqual([])
})

test("a log line is one line of JSON that holds the error and no secret", () => {
  const { secrets } = readConfig({
    OPENAI_API_KEY: "key-0123456789abcdef",
    DATABASE_URL: "postgres://u:pass-word@db/x",
  })
  const lines: string[] = []
  const log = createLog(secrets, (line) => lines.push(line))
  const error = new Error("postgres://u:pass-word@db/x refused\nkey-0123456789abcdef", { cause: new Error("below") })
  log.error("request_failed", { path: "/api", error })
  log.warn("sweep_failed", { count: 1n })
  expect(lines).toHaveLength(2)
  expect(lines.join("")).not.toMatch(/pass-word|0123456789abcdef/)
  expect(lines[0]).toContain("postgres://")
  expect(JSON.parse(lines[0] ?? "")).toMatchObject({
    level: "error",
    event: "request_failed",
    path: "/api",
    error: { name: "Error", message: expect.stringContaining("refused"), cause: { message: "below" } },
  })
  expect(JSON.parse(lines[1] ?? "")).toMatchObject({ level: "warn", count: "1" })
})

test("the log is JSON or plain, or off, from a level on, and hides what looks like a credential", () => {
  expect(readConfig({ PAWL_LOG: "plain", PAWL_LOG_LEVEL: "warn" }).log).toEqual({ format: "plain", level: "warn" })
  expect(() => readConfig({ PAWL_LOG: "xml" })).toThrow("json or plain or off")
  const lines: string[] = []
  const log = (format: "json" | "plain" | "off", level: "info" | "warn" = "info") =>
    createLog([], (line) => lines.push(line), { format, level })
  const token = `pawl_${"x".repeat(43)}`
  log("plain").warn("sweep_failed", { conversation: "conv_1", said: `two words ${token}`, error: new Error("below") })
  expect(lines[0]).toMatch(
    /^\d\d:\d\d:\d\d warn {2}sweep_failed conversation=conv_1 said="two words \[hidden\]"\nError: below\n/,
  )
  log("json").info("request", { header: `Bearer ${token}`, jwt: "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmVk" })
  expect(lines[1]).not.toMatch(/xxxx|eyJ/)
  log("off").error("anything", {})
  log("json", "warn").info("request", {})
  expect(lines).toHaveLength(2)
})

test("the password of the database may be set separately from its address, in any letters, and none is ever printed", () => {
  const PGPASSWORD = "a/b#c?d%e@f"
  const { databaseUrl, secrets } = readConfig({ DATABASE_URL: "postgres://pawl@database/pawl", PGPASSWORD })
  expect(new pg.Client({ connectionString: databaseUrl })).toMatchObject({ host: "database", password: PGPASSWORD })
  expect(secrets).toContain(PGPASSWORD)
  const both = readConfig({ DATABASE_URL: "postgres://pawl:own@database/pawl", PGPASSWORD })
  expect(both.databaseUrl).toBe("postgres://pawl:own@database/pawl")
  const asked = readConfig({ DATABASE_URL: "postgres://pawl@database/pawl?password=hunter%32" })
  expect(asked.secrets).toEqual(expect.arrayContaining(["hunter%32", "hunter2"]))
  const search = readConfig({ PAWL_WEB_SEARCH: "searxng:https://ada:hush-hush@s.example/x" })
  expect(search.secrets).toContain("hush-hush")
})

test("who searches the web is one of several, and a key is never printed", () => {
  const read = (PAWL_WEB_SEARCH: string) => readConfig({ PAWL_WEB_SEARCH }).webSearch
  expect(read("off")).toEqual({ provider: "off" })
  expect(read("brave:k:1")).toEqual({ provider: "brave", key: "k:1" })
  expect(read("searxng:https://s.example/x")).toEqual({ provider: "searxng", url: "https://s.example/x" })
  expect(read("duckduckgo:https://d.example/")).toEqual({ provider: "duckduckgo", url: "https://d.example/" })
  expect(readConfig({ PAWL_WEB_SEARCH: "tavily:tvly-secret" }).secrets).toContain("tvly-secret")
  for (const bad of ["bing", "brave", "searxng:nowhere", "tavily:"])
    expect(() => read(bad)).toThrow("PAWL_WEB_SEARCH has a value that is not allowed")
})

describe("the proxies of this machine", () => {
  const proxy = (environment: Record<string, string>) => readConfig(environment).proxy

  test("are taken as other programs take them", () => {
    expect(proxy({})).toBeUndefined()
    expect(proxy({ NO_PROXY: "a.example" })).toBeUndefined()
    expect(proxy({ HTTP_PROXY: "proxy:3128", https_proxy: "https://b.example", NO_PROXY: "c.example" })).toEqual({
      http: "http://proxy:3128/",
      https: "https://b.example/",
      except: "c.example",
    })
    expect(proxy({ HTTPS_PROXY: "http://a.example", https_proxy: "http://b.example" })).toEqual({
      https: "http://b.example/",
    })
  })

  test("are refused with a word where they cannot be used, and their passwords are never printed", () => {
    expect(() => proxy({ HTTPS_PROXY: "socks5://ada:hush-hush@proxy" })).toThrow(
      /^HTTPS_PROXY .* such as SOCKS are not supported, so unset it/,
    )
    expect(() => proxy({ HTTPS_PROXY: "socks5://ada:hush-hush@proxy" })).not.toThrow(/hush/)
    expect(readConfig({ HTTP_PROXY: "http://ada:h%40sh@proxy" }).secrets).toEqual(
      expect.arrayContaining(["h%40sh", "h@sh"]),
    )
  })
})

test("without settings, a server is the one that tests use by default", () => {
  const { commandEnvironment: _, ...usual } = settingsIn("/data")
  // Settings that only commands use, or that depend on the machine.
  const {
    commandEnvironment,
    port,
    drainSeconds,
    token,
    log,
    warnings,
    usesUsualDataFolder,
    usesUsualRunSeconds,
    projectRules,
    mcpFile,
    offlineModel,
    localEmbedder,
    ...read
  } = readConfig({
    PAWL_DATA: "/data",
  })
  expect(read).toEqual(usual)
})

test("a key of Gemini may go by the name that other programs have for it", () => {
  const config = readConfig({ GOOGLE_GENERATIVE_AI_API_KEY: "key-of-google" })
  expect([config.models.geminiApiKey, config.secrets]).toEqual(["key-of-google", ["key-of-google"]])
})

describe("PAWL_PROVIDERS", () => {
  const entry = { name: "acme", kind: "openai", baseUrl: "https://m.example/v1", apiKeyEnv: "ACME_KEY" }
  const inFile = (content: string) => {
    const file = join(mkdtempSync(join(tmpdir(), "pawl-providers-")), "providers.json")
    writeFileSync(file, content)
    return file
  }

  test("is a file of endpoints, whose keys and headers are secrets like all others", () => {
    const headers = { "x-team": "${ACME_TEAM}" }
    const PAWL_PROVIDERS = inFile(JSON.stringify([{ ...entry, headers }]))
    const { models, secrets, warnings } = readConfig({
      PAWL_PROVIDERS,
      ACME_KEY: "key-of-acme",
      ACME_TEAM: "team-of-seven",
    })
    expect(models.endpoints).toMatchObject([
      { name: "acme", apiKey: "key-of-acme", headers: { "x-team": "team-of-seven" } },
    ])
    expect(secrets).toEqual(["key-of-acme", "team-of-seven"])
    expect(warnings).toEqual([])
  })

  test.each([
    ["[{", /^PAWL_PROVIDERS: \/.*providers\.json: it is not valid JSON.*\.$/],
    [
      JSON.stringify([{ ...entry, kind: "x" }]),
      /providers\.json: entry 1 \("acme"\): kind: must be one of openai, anthropic\.$/,
    ],
  ])("with %s in it is refused in a sentence", (content, description) => {
    const read = () => readConfig({ PAWL_PROVIDERS: inFile(content) })
    expect(read).toThrow(CommandError)
    expect(read).toThrow(description)
  })

  test("that is not there is refused as well", () => {
    expect(() => readConfig({ PAWL_PROVIDERS: "/nowhere/p.json" })).toThrow(
      "PAWL_PROVIDERS: /nowhere/p.json cannot be read: the file or folder does not exist.",
    )
  })
})
