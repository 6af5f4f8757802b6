import { readOnlyFlags } from "../process/command.ts"
import { readConfig } from "../settings/config.ts"
import { openServer } from "../open/server.ts"
import { onStop } from "../process/on-stop.ts"
import { serveUntilStopped } from "./serve-until-stopped.ts"
import { warn } from "../settings/warn.ts"

export const help = `Usage: pawl serve [--port N] [--host H]

Starts the server. It prints a link that signs a browser in, once, and says "listening on http://…" when it is ready.
SIGTERM or Ctrl-C stops it in good order: what is at work goes on with the next start.

  --port N   the port, 0 for any free one (PAWL_PORT, default 7295)
  --host H   the address to listen on (PAWL_HOST, default 127.0.0.1)

Settings are variables of the environment: \`pawl help settings\` lists them all. Those that most set: PAWL_DATA (where data
is kept), DATABASE_URL (PostgreSQL instead of a file), PAWL_PUBLIC_URL, and for models OPENAI_API_KEY, ANTHROPIC_API_KEY,
OPENROUTER_API_KEY, OPENAI_BASE_URL, LM_STUDIO_ENDPOINT or OLLAMA_HOST. Without any of these a small offline model answers.
`

export async function run(words: readonly string[]): Promise<number> {
  const values = readOnlyFlags("serve", words, { port: { type: "string" }, host: { type: "string" } })
  const config = readConfig(undefined, { PAWL_PORT: values.port, PAWL_HOST: values.host })
  warn(config)
  const stopping = onStop()
  await using server = await openServer(config)
  warn({ warnings: await server.store.engine.weaknesses() })
  const broken = await serveUntilStopped(server, { config, stopping })
  if (!broken) return 0
  process.stderr.write(`pawl: ${broken.message} Start it again; a supervisor would have by now.\n`)
  // At once: what closing in good order would write could do harm to a database whose disk has failed.
  process.exit(1)
}
