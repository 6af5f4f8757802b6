import type { Engine } from "../../store/engine/engine.ts"
import type { Operation } from "../../store/engine/operations.ts"
import { type CrashBoundary, noteLine, OWN_WRITE } from "./life-files.ts"

/**
 * Ends this process with SIGKILL before or after one commit of the store: nothing is told, closed or flushed, as when
 * the machine's own guard against full memory ends it. Commits of a journal and its inbox count, and what tools write to the store.
 */
export function dieAtWrite(
  engine: Engine,
  { dies, writes, inTool }: { dies: CrashBoundary | undefined; writes: string; inTool: () => boolean },
): void {
  const change = engine.change.bind(engine) as (operation: Operation) => Promise<unknown>
  let count = 0
  engine.change = (async (operation: Operation) => {
    // A sign of life comes when its time has come, and would be another write in each life.
    if (operation.type === "statements" && (!inTool() || isSignOfLife(operation))) return change(operation)
    const mine = ++count
    noteLine(writes, describe(operation))
    if (dies?.at === mine && dies.when === "before") await die()
    const done = await change(operation)
    if (dies?.at === mine) await die()
    return done
  }) as Engine["change"]
}

const isSignOfLife = ({ statements }: Extract<Operation, { type: "statements" }>): boolean =>
  statements.every(({ sql }) => /\bnode\b/.test(sql))

/** What somebody knows it by who reads a table of boundaries. */
function describe(operation: Operation): string {
  if (operation.type === "inbox") return "inbox"
  if (operation.type === "statements") return OWN_WRITE
  return operation.events.map(([, type]) => type).join(" + ") || "lease"
}

/** Never resolves: the signal comes before anything that follows. */
function die(): Promise<never> {
  process.kill(process.pid, "SIGKILL")
  return new Promise(() => {})
}
