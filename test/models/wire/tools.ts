import { z } from "zod"
import { answer, defineTool, failed, type Tool } from "../../../core/engine/definition/tool.ts"

const input = z.object({ key: z.number() })

/** Long enough to be replaced by a reference. */
const LONG = "seen all of it ".repeat(50)

/** Reads that return much, little and nothing, external text, and two kinds of writes. */
export function storyTools(isDead: () => boolean): Tool[] {
  const done = new Set<string>()
  const read = (name: string, run: (key: number) => string, more: { taint?: "untrusted" } = {}) =>
    defineTool({
      ...{ name, description: "Reads.", input, effect: "read", afterCrash: "run-again", ...more },
      run: ({ key }) => (key === 3 ? failed("") : answer(run(key))),
    })
  const write = (callId: string) => {
    if (isDead()) throw new Error("this process is dead")
    done.add(callId)
    return answer("done")
  }
  return [
    read("look", (key) => (key === 0 ? LONG : key === 1 ? "" : `seen ${key}`)),
    read("fetch", (key) => (key === 0 ? LONG : `page ${key}`), { taint: "untrusted" }),
    defineTool({
      ...{ name: "pay", description: "Pays.", input, effect: "write", afterCrash: "ask-target" },
      inverse: (given) => ({ tool: "pay", input: given }),
      outcome: (callId) => (done.has(callId) ? answer("done") : "not-applied"),
      run: (_, { callId }) => write(callId),
    }),
    defineTool({
      ...{ name: "mail", description: "Mails.", input, effect: "write", afterCrash: "in-doubt", inverse: false },
      run: (_, { callId }) => write(callId),
    }),
  ]
}
