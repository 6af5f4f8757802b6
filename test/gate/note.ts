import { z } from "zod"
import type { Input } from "../../core/engine/input.ts"
import { answer, type CallContext, defineTool, type Tool } from "../../core/engine/definition/tool.ts"
import { calls, says } from "../../core/models/scripted/script.ts"
import { scripted } from "../../core/models/scripted/model.ts"
import { openChecked, resultsOf } from "../support/loop/checked-world.ts"
import type { TestDatabase } from "../support/databases.ts"
import { read } from "../support/loop/tools.ts"
import { TurnedClock, type World, type WorldOptions } from "../support/loop/world.ts"

interface Text {
  readonly text: string
}

/** One note that can be read and changed; its revision counts the changes. */
export class Note {
  text = "old"
  revision = 1
  /** The written texts, in order. */
  readonly written: string[] = []

  /** The write that changes it; `run` replaces its behaviour. */
  change(run: (input: Text, context: CallContext) => ReturnType<Tool["run"]> = ({ text }) => this.write(text)): Tool {
    return defineTool({
      name: "change_note",
      description: "Changes the note.",
      input: z.object({ text: z.string() }),
      effect: "write",
      afterCrash: "in-doubt",
      inverse: () => ({ tool: "change_note", input: { text: "old" } }),
      preview: ({ text }) => ({
        summary: `Change the note to "${text}"`,
        action: "safe_update",
        diff: { before: { text: this.text }, after: { text } },
        target: "note",
        revision: `${this.revision}`,
      }),
      run,
    })
  }

  write(text: string) {
    if (text === "impossible") throw new Error("the note is full")
    this.written.push(text)
    this.set(text)
    return answer(`The note says "${text}".`)
  }

  /** Changes it without the assistant. */
  set(text: string): void {
    this.text = text
    this.revision++
  }
}

export interface Asking extends Partial<Omit<WorldOptions, "url" | "model" | "clock">> {
  /** One proposal for each. */
  readonly texts?: readonly string[]
  readonly note?: Note
}

/** A conversation that waits for a decision about the note. */
export async function openWithProposal(create: TestDatabase["create"], asking: Asking = {}) {
  const { texts = ["new"], note = new Note(), tools = [note.change(), read("look")], ...options } = asking
  const database = await create()
  const clock = new TurnedClock()
  const changes = texts.map((text): ["change_note", Text & Record<string, string>] => ["change_note", { text }])
  const model = scripted(calls(...changes), says("Done."))
  const world = await openChecked({ url: database.url, model, tools, clock, ...options })
  const { runtime } = world.pawl
  const id = await world.begin("Change the note.")
  const proposals = (await world.proposals(id)).map(({ proposed }) => proposed)
  return {
    ...{ database, world, id, note, model, clock, proposals, proposal: proposals[0]! },
    /** The results of the calls, as the model gets them. */
    told: () => resultsOf(world, id),
    async submit(input: Input) {
      await runtime.submit(id, input)
      await runtime.rest(id)
    },
    async [Symbol.asyncDispose]() {
      await world[Symbol.asyncDispose]()
      await database[Symbol.asyncDispose]()
    },
  }
}

/** The proposals as plain SQL shows them. */
export const proposalRows = ({ store }: World) =>
  store.engine.query<{ id: string; status: string; code: string | null; decided_by: string | null }>(
    "SELECT id, status, code, decided_by FROM proposals",
    [],
  )
