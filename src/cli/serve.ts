import { once } from "node:events"
import { pause, systemClock } from "../agent/clock.ts"
import type { Log } from "../agent/ports.ts"
import { usualScopes } from "../protocol/scopes.ts"
import { createApp } from "../server/app.ts"
import { openJwt } from "../server/jwt.ts"
import { type Listening, listen } from "../server/listen.ts"
import { Revocation } from "../server/revocation.ts"
import { CommandError, readFlags } from "./command.ts"
import { type Config, readConfig } from "./config.ts"
import { baseUrl, toLink } from "./invite.ts"
import { createLog } from "./log.ts"
import { type Opened, openFromConfig, userName } from "./open.ts"
import { warn } from "./warn.ts"

export const help = `Usage: pawl serve [--port N] [--host H]

Starts the server. It prints a link that signs a browser in, once, and says "listening on http://…" when it is ready.
SIGTERM or Ctrl-C stops it in good order: what is at work goes on with the next start.

  --port N   the port, 0 for any free one (PAWL_PORT, default 7295)
  --host H   the address to listen on (PAWL_HOST, default 127.0.0.1)

Settings: PAWL_DATA, DATABASE_URL, PAWL_MODEL, PAWL_PUBLIC_URL, PAWL_ALLOWED_ORIGINS, PAWL_TRUSTED_PROXY,
PAWL_RATE_LIMIT, PAWL_JWT_SECRET or PAWL_JWKS_URL with PAWL_JWT_ISSUER and PAWL_JWT_AUDIENCE, PAWL_FORBID_AUTO,
PAWL_PROPOSAL_MINUTES, PAWL_RUN_SECONDS, PAWL_MODEL_IDLE_SECONDS, PAWL_DURABILITY, and for models OPENAI_API_KEY,
OPENAI_BASE_URL, ANTHROPIC_API_KEY, ANTHROPIC_BASE_URL, DEEPSEEK_API_KEY, DEEPSEEK_BASE_URL, LM_STUDIO_ENDPOINT,
OLLAMA_HOST. Without any of these a small offline model answers.
`

/** How often conversations are looked for that a dead process has left behind. */
const SWEEP_MS = 2000
/** How long answers under way may take once the server was told to stop. */
const GRACE_MS = 5000

export async function run(words: readonly string[]): Promise<number> {
  const { values } = readFlags("serve", words, { port: { type: "string" }, host: { type: "string" } })
  const config = readConfig(undefined, { PAWL_PORT: values.port, PAWL_HOST: values.host })
  warn(config)
  const log = createLog(config.secrets)
  const stopping = onStop()
  await using opened = await openFromConfig(config, log)
  using revocation = new Revocation({ credentials: opened.store.credentials, runtime: opened.runtime }).start()
  const listening = await listenOn(config, opened, revocation)
  const hint = await welcome(config, opened, listening)
  await opened.runtime.recover()
  const sweeping = sweep(opened, log, stopping)
  process.stdout.write(`${hint}listening on ${listening.url}\n`)
  await aborted(stopping)
  // Nobody new comes in; then the work is put down where the next start finds it, which also ends the waiting answers.
  const closed = listening.close(GRACE_MS)
  await opened.runtime.close()
  await Promise.all([closed, sweeping])
  return 0
}

/** Aborts at the first request to stop. A second one means at once. */
function onStop(): AbortSignal {
  const controller = new AbortController()
  for (const [signal, code] of [
    ["SIGTERM", 143],
    ["SIGINT", 130],
  ] as const) {
    process.on(signal, () => {
      if (controller.signal.aborted) process.exit(code)
      controller.abort()
    })
  }
  return controller.signal
}

async function aborted(signal: AbortSignal): Promise<void> {
  if (!signal.aborted) await once(signal, "abort")
}

/**
 * How to come in. Whoever starts an embedded server owns it, and gets a fresh link each time; a server that shares its
 * database with others has no owner at its keyboard, and its output is often kept.
 */
async function welcome(config: Config, { store }: Opened, { url }: Listening): Promise<string> {
  if (store.engine.name !== "sqlite") {
    return (await store.people.hasTokens())
      ? ""
      : "Nobody has a token yet: npx pawl invite --user NAME lets somebody in.\n"
  }
  const owner = await store.people.ensure(userName(), Date.now())
  const secret = await store.sessions.createLink(owner, [...usualScopes, "admin"], Date.now())
  return `Sign in, once, within 15 minutes: ${toLink(baseUrl(config, url), secret)}\n`
}

async function listenOn(config: Config, { store, runtime, models }: Opened, streams: Revocation): Promise<Listening> {
  const { host, port, publicUrl, allowedOrigins, trustedProxies, requestsPerMinute } = config
  const { people, sessions, credentials, conversations, proposals } = store
  const doors = { host, publicUrl, allowedOrigins, trustedProxies }
  const jwt = config.jwt && (await openJwt(config.jwt, systemClock))
  const ready = () => store.engine.query("SELECT 1 FROM migration LIMIT 1", [])
  const views = { people, sessions, credentials, conversations, proposals }
  const app = createApp({ runtime, ...views, streams, models, doors, jwt, requestsPerMinute, ready })
  try {
    return await listen(app.fetch, { host, port })
  } catch (error) {
    const { code, message } = error as { code?: string; message: string }
    if (code === "EADDRINUSE") {
      throw new CommandError(`Port ${port} is taken, perhaps by another Pawl. Choose one with --port, or 0 for any.`)
    }
    throw new CommandError(`Cannot listen on ${host}:${port}: ${message}.`)
  }
}

/** Takes up, for as long as the server runs, what dead processes have left behind. */
async function sweep({ runtime }: Opened, log: Log, stopping: AbortSignal): Promise<void> {
  for (;;) {
    await pause(systemClock, SWEEP_MS, stopping)
    if (stopping.aborted) return
    await runtime.recover().catch((error: unknown) => log.warn("sweep_failed", { error }))
  }
}
