import { openPawl, agentTool, defineAgent } from "../core/index.ts"
import { says, scripted, always } from "../core/testing.ts"
const models = scripted(always(says("x")))
const tries: [string, () => unknown][] = [
  ["proc", () => openPawl({ store: "/proc/1/pawl.db", models })],
  ["proc2", () => openPawl({ store: "/proc/pawl/x.db", models })],
  ["missing dir", () => openPawl({ store: "/nonexistent-dir/x.db", models })],
  ["typo", () => openPawl({ stroe: ":memory:", models } as never)],
  ["agents string", () => openPawl({ agents: "x", models } as never)],
  ["agent instr", () => openPawl({ store: ":memory:", agents: [{ name: "a", instructions: 5 }], models } as never)],
  ["agent maxIt", () => openPawl({ store: ":memory:", agents: [{ name: "a", maxIterations: "x" }], models } as never)],
  ["agent typo", () => openPawl({ store: ":memory:", agents: [{ name: "a", instruction: "x" }], models } as never)],
  ["agent name", () => openPawl({ store: ":memory:", agents: [{ name: "" }], models } as never)],
  ["agent tools", () => openPawl({ store: ":memory:", agents: [{ name: "a", tools: [{}] }], models } as never)],
  ["no models", () => openPawl({ store: ":memory:" } as never)],
  ["prefix", () => openPawl({ store: ":memory:", models, http: { prefix: "pawl" } })],
  ["model", async () => { await using p = await openPawl({ store: ":memory:", models }); return p.ask("x", { model: "gpt-9" }) }],
]
for (const [name, run] of tries) {
  const timeout = new Promise((r) => setTimeout(r, 5000, "HANGS").unref())
  const result = await Promise.race([Promise.resolve().then(run).then((p) => "OK " + JSON.stringify(p)?.slice(0, 100), (e: Error) => `${e.name} ${(e as { code?: string }).code}: ${e.message}`), timeout])
  console.log(name, "→", result)
}
process.exit()
