import { describe, expect, test } from "vitest"
import { z } from "zod"
import {
  defineAgent,
  definePack,
  defineRoute,
  defineTool,
  openPawl,
  type Pack,
  type PawlOptions,
} from "../../core/index.ts"
import { calls, says, scripted } from "../../core/testing.ts"
import { databasesInTurn } from "../support/databases.ts"

/** A pack with a table, an agent and a route. */
const books = definePack({
  name: "books",
  needs: {
    tables: [{ name: "pack_books_loan", person: "person", exported: ["id", "title"] }],
    migrations: [
      {
        name: "001_loans",
        statements: [
          "CREATE TABLE pack_books_loan (id TEXT NOT NULL PRIMARY KEY, person TEXT NOT NULL, title TEXT NOT NULL)",
        ],
      },
    ],
  },
  open({ tables }) {
    const loansOf = (person: string) =>
      tables.query<{ title: string }>("SELECT title FROM pack_books_loan WHERE person = ? ORDER BY title", [person])
    const lend = defineTool({
      ...{ name: "lend_book", description: "Records a loan.", input: z.object({ title: z.string() }), effect: "write" },
      afterCrash: "run-again",
      async run({ title }, call) {
        const sql = "INSERT INTO pack_books_loan (id, person, title) VALUES (?, ?, ?)"
        await tables.applyOnce(call, [{ sql, values: [call.callId, call.user, title] }], null)
        return `${title} is lent.`
      },
    })
    const listLoans = defineRoute({
      ...{ method: "GET", path: "/loans", needs: "read", says: "Your loans." },
      answer: z.object({ items: z.array(z.object({ title: z.string() })) }),
      handle: async ({ caller }) => ({ items: await loansOf(caller.id) }),
    })
    return {
      agents: [defineAgent({ name: "librarian", description: "Lends books.", tools: [lend] })],
      routes: { listLoans },
    }
  },
})

describe.each(databasesInTurn(import.meta.filename))("packs of a program, on $name", ({ create }) => {
  const open = async (more: Partial<PawlOptions>) =>
    openPawl({
      store: { url: (await create()).url, durability: "normal" },
      models: scripted(),
      packs: [books],
      ...more,
    })

  test("an agent of a pack writes to its tables after an approval, and its route reads them", async () => {
    const models = scripted(calls("lend_book", { title: "Dune" }), says("Lent."))
    await using pawl = await open({ models, http: { user: () => "ada" } })
    await pawl.people.create("ada")
    const ada = pawl.as("ada")
    const asked = await ada.ask("Lend Dune.")
    expect(asked).toMatchObject({ status: "waiting", proposals: [{ tool: "lend_book" }] })
    if (asked.status === "waiting") await ada.proposals.approve(asked.proposals[0]!.id)
    expect((await ada.answer(asked.conversationId)).text).toBe("Lent.")
    const response = await pawl.fetch(new Request("http://localhost/api/packs/books/loans"))
    expect(await response.json()).toEqual({ items: [{ title: "Dune" }] })
  })

  test("the first of the program's own agents is the default, before those of packs", async () => {
    const models = scripted(says("Hello."), says("Hello."))
    await using pawl = await open({ models, agents: [{ name: "clerk" }] })
    await pawl.ask("Hello.")
    await pawl.ask("Hello.", { agent: "librarian" })
    expect(models.received.map(({ request }) => request.tools.map(({ name }) => name))).toEqual([[], ["lend_book"]])
  })

  test.each<[what: string, more: () => Partial<PawlOptions>, says: RegExp]>([
    [
      "a pack of a standard name",
      () => ({ packs: [{ name: "research", open: books.open }] }),
      /"research" cannot be used: there is a pack/,
    ],
    [
      "two packs of one name",
      () => ({ packs: [books, books] }),
      /"books" cannot be used: there is a pack "books" already/,
    ],
    ["an agent of the same name", () => ({ agents: [{ name: "librarian" }] }), /agent "librarian" in agents already/],
    ["no pack", () => ({ packs: [{ name: "books" } as unknown as Pack] }), /"books" cannot be used: .*open/],
    [
      "a pack that fails",
      () => ({ packs: [definePack({ name: "fails", open: () => Promise.reject(new Error("no key")) })] }),
      /"fails" cannot be used: open\(\) failed: no key/,
    ],
  ])("%s is refused, with its name", async (_what, more, sentence) => {
    await expect(open(more())).rejects.toThrow(sentence)
  })
})
