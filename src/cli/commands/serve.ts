import { RecentSecrets } from "../../models/providers/recent-secrets.ts"
import { createServerMetrics } from "../../server/metrics/server-metrics.ts"
import { readFlags } from "../process/command.ts"
import { readConfig } from "../settings/config.ts"
import { createLog } from "../process/log.ts"
import { openFromConfig } from "../open/from-config.ts"
import { onStop } from "../process/on-stop.ts"
import { serveUntilStopped } from "./serve-until-stopped.ts"
import { warn } from "../settings/warn.ts"

export const help = `Usage: pawl serve [--port N] [--host H]

Starts the server. It prints a link that signs a browser in, once, and says "listening on http://…" when it is ready.
SIGTERM or Ctrl-C stops it in good order: what is at work goes on with the next start.

  --port N   the port, 0 for any free one (PAWL_PORT, default 7295)
  --host H   the address to listen on (PAWL_HOST, default 127.0.0.1)

Settings: PAWL_DATA, DATABASE_URL, PAWL_MODEL, PAWL_PUBLIC_URL, PAWL_ALLOWED_ORIGINS, PAWL_TRUSTED_PROXY,
PAWL_RATE_LIMIT, PAWL_JWT_SECRET or PAWL_JWKS_URL with PAWL_JWT_ISSUER and PAWL_JWT_AUDIENCE, PAWL_FORBID_AUTO,
PAWL_PROPOSAL_MINUTES, PAWL_RUN_SECONDS, PAWL_REPLY_CHARACTERS, PAWL_MODEL_IDLE_SECONDS, PAWL_DURABILITY,
PAWL_WEBHOOK_URL with PAWL_WEBHOOK_SECRET, PAWL_LOG (json, plain, off), PAWL_LOG_LEVEL (info, warn, error), and for models OPENAI_API_KEY,
OPENAI_BASE_URL, ANTHROPIC_API_KEY, ANTHROPIC_BASE_URL, DEEPSEEK_API_KEY, DEEPSEEK_BASE_URL, LM_STUDIO_ENDPOINT,
OLLAMA_HOST. Without any of these a small offline model answers. People can store keys of their own (docs/providers.md):
MASTER_ENCRYPTION_KEY, PAWL_SHARED_KEYS, PAWL_ALLOW_PRIVATE_HOSTS; and what the shared ones may cost has ceilings:
PAWL_DAILY_LIMIT_USD, PAWL_RUN_LIMIT_USD. PAWL_PACKS loads agents of your own (docs/packs.md): files such as ./my-pack.ts and
packages, split by commas.
`

export async function run(words: readonly string[]): Promise<number> {
  const { values } = readFlags("serve", words, { port: { type: "string" }, host: { type: "string" } })
  const config = readConfig(undefined, { PAWL_PORT: values.port, PAWL_HOST: values.host })
  warn(config)
  const secrets = new RecentSecrets(config.secrets)
  const log = createLog(secrets, undefined, config.log)
  const stopping = onStop()
  const metrics = createServerMetrics()
  await using opened = await openFromConfig(config, log, { recent: secrets, metrics })
  warn({ warnings: await opened.store.engine.weaknesses() })
  const broken = await serveUntilStopped(opened, { config, log, stopping, metrics })
  if (!broken) return 0
  process.stderr.write(`pawl: ${broken.message} Start it again; a supervisor would have by now.\n`)
  // At once: what closing in good order would write could do harm to a database whose disk has failed.
  process.exit(1)
}
