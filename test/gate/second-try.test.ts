import { describe, expect, test } from "vitest"
import { z } from "zod"
import { answer, defineTool } from "../../core/engine/definition/tool.ts"
import { calls, says } from "../../core/models/scripted/script.ts"
import { scripted } from "../../core/models/scripted/model.ts"
import { openChecked } from "../support/loop/checked-world.ts"
import { databases } from "../support/databases.ts"
import { Mortal } from "../support/loop/faults.ts"
import { openWorld } from "../support/loop/world.ts"

describe.each(databases)("on $name", ({ create }) => {
  // the check of the target must not come between an interrupted write and its second try.
  test("a write that may run again is not stale because of changes by its own first try", async () => {
    await using database = await create()
    const mortal = new Mortal()
    const shelf = { books: 1, revision: 1, done: new Set<string>() }
    let isFirst = true
    const add = defineTool({
      name: "add_book",
      description: "Adds a book.",
      input: z.object({}),
      effect: "write",
      afterCrash: "run-again", // the shelf counts a call once
      inverse: false,
      preview: () => ({ summary: "Add a book", action: "safe_create", target: "shelf", revision: `${shelf.revision}` }),
      run(_input, { callId }) {
        if (!shelf.done.has(callId)) Object.assign(shelf, { books: shelf.books + 1, revision: shelf.revision + 1 })
        shelf.done.add(callId)
        if (isFirst) mortal.kill() // done, but the process dies before it can report
        return answer(`${shelf.books} books.`)
      },
    })
    const model = scripted(calls("add_book"), says("Added."))
    const id = await (async () => {
      await using world = await openWorld({ url: database.url, model, tools: [add], between: mortal.between })
      const id = await world.begin("Add it.")
      await world.decide(id, (await world.proposals(id))[0]!.proposed.id, "commit")
      return id
    })()
    expect(shelf).toMatchObject({ books: 2, revision: 2 })
    isFirst = false
    await using next = await openChecked({ url: database.url, model: scripted(says("Added.")), tools: [add] })
    await next.pawl.runtime.recover()
    await next.pawl.runtime.rest(id)
    expect(await next.results(id)).toEqual(["ok"])
    expect(shelf.books).toBe(2)
    expect((await next.load(id)).run).toMatchObject({ status: "completed" })
  })
})
