import { once } from "node:events"
import manifest from "../../package.json" with { type: "json" }
import { pause, systemClock } from "../agent/clock.ts"
import type { Log } from "../agent/ports.ts"
import { createApp } from "../server/app.ts"
import { type Listening, listen } from "../server/listen.ts"
import type { Store } from "../store/store.ts"
import { CommandError, readFlags } from "./command.ts"
import { type Config, readConfig } from "./config.ts"
import { createLog } from "./log.ts"
import { type Opened, openFromConfig, userName } from "./open.ts"
import { warn } from "./warn.ts"

export const help = `Usage: pawl serve [--port N] [--host H]

Starts the server. It says "listening on http://…" when it is ready, and SIGTERM or Ctrl-C stops it in good order: what
is at work goes on with the next start.

  --port N   the port, 0 for any free one (PAWL_PORT, default 7295)
  --host H   the address to listen on (PAWL_HOST, default 127.0.0.1)

Settings: PAWL_DATA, DATABASE_URL, PAWL_MODEL, PAWL_PUBLIC_URL, PAWL_ALLOWED_ORIGINS, PAWL_FORBID_AUTO,
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
  const hint = await welcome(opened.store)
  const listening = await listenOn(config, opened)
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

/** Makes the owner on the first start, and says how to come in as long as nobody can. */
async function welcome({ people }: Store): Promise<string> {
  const name = userName()
  if (await people.isEmpty()) await people.ensure(name, Date.now())
  if (await people.hasTokens()) return ""
  const user = /^[\w.-]+$/.test(name) ? name : JSON.stringify(name)
  return `Nobody has a token yet. Make yours with: npx pawl token create --user ${user}\n`
}

async function listenOn(config: Config, { store, runtime, models }: Opened): Promise<Listening> {
  const { host, port, publicUrl, allowedOrigins } = config
  const { people, conversations, proposals, messageKeys, queue } = store
  const doors = { host, publicUrl, allowedOrigins }
  const ready = () => store.engine.query("SELECT 1 FROM migration LIMIT 1", [])
  const app = createApp({
    runtime,
    people,
    conversations,
    proposals,
    messageKeys,
    queue,
    models,
    doors,
    ready,
    version: manifest.version,
  })
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
