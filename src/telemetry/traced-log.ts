import type { Log } from "../agent/ports.ts"
import { isId } from "../protocol/ids.ts"
import { traceIdOf } from "./ids.ts"

/** The same log: a line about a run also names its trace, told or not. */
export function tracedLog(log: Log): Log {
  const traced = (fields: Record<string, unknown>) => {
    const { run } = fields
    return typeof run === "string" && isId("run", run) ? { ...fields, trace_id: traceIdOf(run) } : fields
  }
  return {
    info: (event, fields) => log.info(event, traced(fields)),
    warn: (event, fields) => log.warn(event, traced(fields)),
    error: (event, fields) => log.error(event, traced(fields)),
  }
}
