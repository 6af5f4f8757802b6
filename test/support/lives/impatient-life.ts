/**
 * `pawl serve` whose limits of time are about half of the usual: for tests that wait until they are reached. What they are in
 * a server that people use, `src/server/listen.ts` and `src/packs/analyst/database/walls.ts` say.
 */
import { createLog } from "../../../src/cli/process/log.ts"
import { onStop } from "../../../src/cli/process/on-stop.ts"
import { readConfig } from "../../../src/cli/settings/config.ts"
import { serveUntilStopped } from "../../../src/cli/commands/serve-until-stopped.ts"
import { composeServer } from "../../../src/compose/compose-server.ts"
import { queryLimits } from "../../../src/packs/analyst/database/walls.ts"
import "./keep-compiled.ts"

const config = readConfig()
const stopping = onStop()
await using server = await composeServer(config, {
  log: createLog(config.secrets, undefined, config.log),
  queryLimits: { ...queryLimits, seconds: 5 },
})
await serveUntilStopped(server, { config, stopping, patience: { headers: 6000, request: 15_000, look: 1000 } })
