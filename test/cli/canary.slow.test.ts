import { randomBytes } from "node:crypto"
import { readdir, readFile } from "node:fs/promises"
import { type AddressInfo, createServer } from "node:net"
import { join } from "node:path"
import { SignJWT } from "jose"
import { expect, test, vi } from "vitest"
import { chatChunk, ProviderServer, sse, streamHead } from "../../core/models/providers/server.fixture.ts"
import { command } from "../support/processes/commands.ts"
import { dataFolder, PawlProcess, pawl } from "../support/processes/pawl-process.ts"
import { tokenFor } from "../support/processes/token-for.ts"
import { Receiver } from "../support/server/receiver.ts"
import { oneIn } from "../support/sizes.ts"

vi.setConfig({ testTimeout: 180_000 })

/** Unique, so that any occurrence means that it has leaked. */
const canary = (kind: string) => `${kind}Canary${randomBytes(18).toString("hex")}`

/** A provider that echoes the key it received in every way it can: as an answer, in the middle of one, and in an interrupted one. */
function echo(response: Parameters<Parameters<typeof ProviderServer.open>[0]>[0], key: string, turn: number): void {
  const error = { error: { message: `Incorrect API key provided: ${key}`, type: "x", code: `bad_${key}` } }
  const json = (status: number) =>
    response.writeHead(status, { "content-type": "application/json", "x-key": key }).end(JSON.stringify(error))
  const begun = sse(chatChunk({ role: "assistant", content: "I begin" }))
  if (turn % 5 === 0) return void json(401)
  if (turn % 5 === 1) return void json(400)
  if (turn % 5 === 2) return void streamHead(response).end(begun + sse(error))
  if (turn % 5 === 3) return void streamHead(response).end(`${begun}data: {"oops": "${key}\n\n`)
  response.writeHead(403, { "content-type": "text/html" }).end(`<h1>Authorization: Bearer ${key}</h1>`)
}

// Concurrent, because half of the time is waiting until the webhook is called again.
test.concurrent.each(oneIn(2, ["json", "plain"]))(
  "no canary is in an answer, a header, an export, the metrics, a file of the database, a copy of it or the %s log",
  async (format) => {
    let turn = 0
    await using provider = await ProviderServer.open((response, { headers }) => {
      echo(response, (headers.authorization ?? "").replace("Bearer ", ""), turn++)
    })
    await using receiver = await Receiver.open((response, count) => response.writeHead(count === 1 ? 500 : 200).end())
    const secrets: Record<string, string> = {
      shared: `sk-${canary("Shared")}`,
      own: canary("Own"),
      jwt: canary("Jwt"),
      webhook: canary("Webhook"),
      password: canary("Password"),
      database: canary("Database"),
      master: randomBytes(32).toString("base64"),
    }
    const hook = new URL(receiver.url)
    hook.username = "pawl"
    hook.password = secrets.password!
    const environment: Record<string, string> = {
      PAWL_DATA: dataFolder(),
      PAWL_PORT: "0",
      PAWL_LOG: format,
      OPENAI_API_KEY: secrets.shared!,
      OPENAI_BASE_URL: provider.url,
      PAWL_ALLOW_PRIVATE_HOSTS: "on",
      PAWL_JWT_SECRET: secrets.jwt!,
      PAWL_JWT_ISSUER: "https://id.example",
      PAWL_WEBHOOK_URL: hook.href,
      PAWL_WEBHOOK_SECRET: secrets.webhook!,
      MASTER_ENCRYPTION_KEY: secrets.master!,
    }
    secrets.token = await tokenFor(environment, "ada", ["read", "chat", "approve", "manage", "admin"])
    secrets.link = new URL(
      (await command(["invite", "--user", "ada", "--server", "http://a.example"], environment)).stdout.trim(),
    ).hash.slice(1)
    await using server = new PawlProcess(["serve"], environment)
    const [, printed = "", url = ""] = await server.says(/sign-in#(\S+)[^]*listening on (\S+)\n/)
    const seen: string[] = []
    /** Secrets that are handed out on purpose, once, to the caller that requested them. */
    const handedOut = new Map<string, number>()

    async function ask(method: string, path: string, body?: unknown, headers: Record<string, string> = {}) {
      const shown: Record<string, string> = { authorization: `Bearer ${secrets.token}`, ...headers }
      if (headers.cookie) delete shown.authorization
      const init = { method, headers: shown, ...(body === undefined ? {} : { body: JSON.stringify(body) }) }
      const response = await fetch(`${url}${path}`, init)
      const text = await response.text()
      seen.push(text, JSON.stringify([...response.headers]))
      return {
        status: response.status,
        headers: response.headers,
        text,
        body: /[/+]json/.test(response.headers.get("content-type") ?? "") ? JSON.parse(text) : undefined,
      }
    }

    // Signs in with a link, a ticket, a second token, a JWT: each is handed out once, and must not appear in any later answer.
    const signedIn = await ask("POST", "/api/auth/sign-in", { secret: secrets.link })
    secrets.session = /pawl_session_\d+=([\w-]+)/.exec(signedIn.headers.get("set-cookie") ?? "")?.[1] ?? ""
    secrets.page = signedIn.body.pageSecret as string
    secrets.ticket = (await ask("POST", "/api/auth/ticket")).body.ticket
    secrets.second = (await ask("POST", "/api/tokens", { name: "laptop" })).body.token
    for (const name of ["session", "page", "ticket", "second"]) handedOut.set(secrets[name]!, 1)
    const key = new TextEncoder().encode(secrets.jwt)
    secrets.signed = await new SignJWT({ scope: "read chat" })
      .setProtectedHeader({ alg: "HS256" })
      .setIssuer("https://id.example")
      .setSubject("carl")
      .setExpirationTime("1h")
      .sign(key)
    expect((await ask("GET", "/api/auth/me", undefined, { authorization: `Bearer ${secrets.signed}` })).status).toBe(
      200,
    )
    const browser = {
      cookie: `pawl_session_${new URL(url).port}=${secrets.session}`,
      "x-pawl-session": secrets.page,
      "sec-fetch-site": "same-origin",
      origin: url,
    }
    expect((await ask("GET", "/api/auth/me", undefined, browser)).status).toBe(200)

    // Keys that the provider echoes: the operator's first, then ada's own.
    const model = { model: "openai/gpt-x" }
    for (const own of [false, true]) {
      if (own)
        expect((await ask("PUT", "/api/providers/openai", { apiKey: secrets.own, baseUrl: provider.url })).status).toBe(
          200,
        )
      for (let round = 0; round < 5; round++) {
        const begun = await ask("POST", "/api/conversations", model)
        expect(begun.status, begun.text).toBe(201)
        const { id } = begun.body
        const accept: Record<string, string> = round % 2 ? { accept: "text/event-stream" } : {}
        await ask("POST", `/api/conversations/${id}/messages`, { text: "Hello?" }, accept)
        for (const part of ["", "/runs", "/state", "/messages"]) await ask("GET", `/api/conversations/${id}${part}`)
      }
    }
    expect(new Set(provider.received.map(({ headers }) => headers.authorization))).toEqual(
      new Set([`Bearer ${secrets.shared}`, `Bearer ${secrets.own}`]),
    )
    // A write that waits, so that the webhook is called, and fails once.
    const offline = await ask("POST", "/api/conversations", { model: "offline" })
    await ask("POST", `/api/conversations/${offline.body.id}/messages`, { text: "add a task: buy milk" })
    await receiver.called(2)

    // A database that echoes the password.
    await using database = await echoingDatabase()
    const reached = { name: "x", kind: "postgres", host: "127.0.0.1", port: database.port, database: "d", user: "u" }
    const connection = await ask("POST", "/api/connections", { ...reached, password: secrets.database })
    expect(connection.status, connection.text).toBe(201)
    const at = `/api/connections/${connection.body.id}`
    expect((await ask("POST", `${at}/test`)).body.ok).toBe(false)
    expect((await ask("POST", `${at}/query`, { sql: "SELECT 1" })).body.detail).toContain(
      "the user name or the password is wrong",
    )
    await ask("GET", `${at}/schema`)
    await ask("PATCH", at, { port: 1, password: secrets.database })
    await ask("PATCH", at, { port: "one", password: secrets.database })
    await ask("POST", "/api/connections", { ...reached, password: secrets.database, stray: secrets.database })
    await ask("POST", `${at}/query`, { sql: "SELECT 1" })
    expect(database.heard).toContain(secrets.database)

    // Secrets in wrong places: refused bodies, bad tokens, other fields.
    await ask("PUT", "/api/providers/openai", {
      apiKey: `${secrets.own} x`,
      baseUrl: `https://ada:${secrets.password}@a.example`,
    })
    await ask("PUT", "/api/providers/nobody", { apiKey: secrets.own })
    await fetch(`${url}/api/auth/sign-in`, { method: "POST", body: `{"secret":"${secrets.link}` }).then(async (r) =>
      seen.push(await r.text()),
    )
    await ask("POST", "/api/auth/sign-in", { secret: secrets.link })
    await ask("GET", "/api/models", undefined, { authorization: `Bearer ${secrets.second}x` })
    await ask("GET", "/api/models", undefined, { authorization: `Bearer ${secrets.signed}x` })
    await ask("GET", "/api/models", undefined, { authorization: `Basic ${secrets.second}` })
    for (const path of [
      "/api/export",
      "/api/providers",
      "/api/models",
      "/api/tokens",
      "/api/auth/sessions",
      "/api/usage",
      "/api/connections",
      "/metrics",
      "/openapi.json",
      "/docs",
      "/readyz",
      "/api/agent/audit",
      "/api/agent/proposals",
    ]) {
      expect((await ask("GET", path)).status, path).toBe(200)
    }
    const copy = join(dataFolder(), "copy.db")
    const backup = await pawl(["backup", copy], environment)
    expect(backup.code, backup.stderr).toBe(0)
    const doctor = await pawl(["doctor"], environment)
    const files = await bytesIn(environment.PAWL_DATA!, copy)
    const { stdout, stderr } = await server.kill("SIGTERM")
    expect(stderr).toContain("run_ended") // or nothing would have been logged that could tell
    const after = await bytesIn(environment.PAWL_DATA!, copy)
    expect(files.includes("laptop") && after.includes("laptop")).toBe(true)

    const log = [stderr, backup.stdout, backup.stderr, doctor.stdout, doctor.stderr, stdout.replace(printed, "")].join(
      "\n",
    )
    const hooked = receiver.calls.map(({ text }) => text).join("\n")
    for (const [name, secret] of Object.entries({ ...secrets, printed })) {
      expect(secret.length, name).toBeGreaterThan(30)
      const answers = seen.filter((text) => text.includes(secret))
      expect(answers.length, `${name} in answers: ${answers[0]?.slice(0, 300)}`).toBe(handedOut.get(secret) ?? 0)
      for (const form of formsOf(secret)) {
        expect(log.includes(form), `${name} in the log`).toBe(false)
        expect(hooked.includes(form), `${name} in the webhook`).toBe(false)
        expect(files.includes(form) || after.includes(form), `${name} in the database`).toBe(false)
      }
      // A part that identifies the secret must not appear either.
      const part = secret.replace(/^(sk-|pawl_)/, "").slice(0, 16)
      if (name !== "signed") expect(log.includes(part), `part of ${name} in the log`).toBe(false)
    }
  },
)

/** Asks for the password in clear text, and answers with an error that repeats it. */
async function echoingDatabase() {
  const heard: string[] = []
  const message = (type: string, body: Buffer) => {
    const head = Buffer.from(`${type}0000`)
    head.writeInt32BE(body.length + 4, 1)
    return Buffer.concat([head, body])
  }
  const server = createServer((socket) => {
    socket.on("error", () => {})
    socket.on("data", (bytes) => {
      if (bytes[0] !== "p".charCodeAt(0)) return void socket.write(message("R", Buffer.from([0, 0, 0, 3])))
      const said = bytes.subarray(5, -1).toString()
      heard.push(said)
      const words = `SFATAL\0C28P01\0Mno, you said ${said}\0D${said}\0H${said}\0\0`
      socket.end(message("E", Buffer.from(words)))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const { port } = server.address() as AddressInfo
  return { port, heard, [Symbol.asyncDispose]: async () => void server.close() }
}

const formsOf = (secret: string) =>
  [
    Buffer.from(secret),
    Buffer.from(Buffer.from(secret).toString("base64").replace(/=+$/, "").slice(0, -2)),
    ...(/^[\w-]{43}(?:\w\w)?$/.test(secret) ? [Buffer.from(secret.slice(0, 43), "base64url")] : []),
  ].map((bytes) => bytes.toString("latin1"))

/** The content of all files in a folder, as text with one character for each byte. */
async function bytesIn(folder: string, file: string): Promise<string> {
  const names = (await readdir(folder)).filter((name) => name.startsWith("pawl.db"))
  const all = await Promise.all([file, ...names.map((name) => join(folder, name))].map((path) => readFile(path)))
  return Buffer.concat(all).toString("latin1")
}

test.concurrent("the password of an unreachable database appears in no output", async () => {
  const password = canary("Database")
  const environment = { PAWL_DATA: dataFolder(), DATABASE_URL: `postgres://pawl:${password}@127.0.0.1:1/pawl` }
  for (const words of [
    ["serve", "--port", "0"],
    ["doctor"],
    ["migrate"],
    ["token", "create", "--user", "ada"],
    ["backup", "x"],
  ]) {
    // `serve` runs as a real server, the other commands in this process.
    const { code, stdout, stderr } = await (words[0] === "serve" ? pawl : command)(words, environment)
    expect(code, words.join(" ")).not.toBe(0)
    expect(stdout + stderr).not.toContain(password.slice(0, 16))
  }
})
