/**
 * `pawl serve` with about half of the usual time limits, for tests that wait until they are reached. The usual ones
 * are in `core/server/listen.ts` and `packs/analyst/database/sql-guards.ts`.
 */
import { createLog } from "../../../apps/cli/process/log.ts"
import { onStop } from "../../../apps/cli/process/command.ts"
import { readConfig } from "../../../apps/cli/settings/config.ts"
import { serveUntilStopped } from "../../../apps/cli/commands/serve-until-stopped.ts"
import { adapters } from "../../../adapters/list.ts"
import { composeServer } from "../../../core/compose/compose-server.ts"
import { queryLimits } from "../../../packs/analyst/database/sql-guards.ts"
import "./keep-compiled.ts"

const config = readConfig()
const stopping = onStop()
await using server = await composeServer(config, {
  log: createLog(config.secrets, undefined, config.log),
  adapters,
  queryLimits: { ...queryLimits, seconds: 5 },
})
await serveUntilStopped(server, { config, stopping, patience: { headers: 6000, request: 15_000, look: 1000 } })
