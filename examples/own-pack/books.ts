import { z } from "zod"
import {
  answer,
  type CallContext,
  defineAgent,
  definePack,
  defineRoute,
  defineTool,
  failed,
  type PackTables,
} from "pawl"

interface Loan {
  id: string
  title: string
  lent_to: string
}

export default definePack({
  name: "books",
  needs: {
    tables: [{ name: "pack_books_loan", person: "person", exported: ["id", "title", "lent_to"] }],
    migrations: [
      {
        name: "001_loans",
        statements: [
          "CREATE TABLE pack_books_loan (id TEXT NOT NULL PRIMARY KEY, person TEXT NOT NULL, title TEXT NOT NULL, lent_to TEXT NOT NULL)",
          "CREATE INDEX pack_books_loan_person ON pack_books_loan (person)",
        ],
      },
    ],
    views: ["table"],
  },
  open({ tables }) {
    const tools = [listLoans(tables), lendBook(tables), returnBook(tables)]
    return {
      agents: [
        defineAgent({
          name: "librarian",
          description: "Knows which of your books are lent, and to whom.",
          instructions: "You keep the person's list of lent books, only through your tools. Be brief.",
          tools,
        }),
      ],
      routes: {
        listLoans: defineRoute({
          method: "GET",
          path: "/loans",
          needs: "read",
          says: "Your books that are lent.",
          answer: z.object({ items: z.array(z.object({ id: z.string(), title: z.string(), lent_to: z.string() })) }),
          handle: async ({ caller }) => ({ items: await loansOf(tables, caller.id) }),
        }),
      },
    }
  },
})

/** Always selects by person, so that people see only their own rows. */
const loansOf = (tables: PackTables, person: string) =>
  tables.query<Loan>("SELECT id, title, lent_to FROM pack_books_loan WHERE person = ? ORDER BY title, id", [person])

const listLoans = (tables: PackTables) =>
  defineTool({
    name: "list_loans",
    description: "Lists the books that are lent.",
    input: z.object({}),
    effect: "read",
    afterCrash: "run-again",
    taint: "private",
    examples: ["list loans"],
    async run(_, { user }) {
      const loans = await loansOf(tables, user)
      const columns = ["title", "lent_to"]
      const text = loans.map(({ title, lent_to }) => `${title}: ${lent_to}`).join("\n")
      return answer(text || "No book is lent.", { data: { kind: "table", columns, rows: loans } })
    },
  })

const lendBook = (tables: PackTables) =>
  defineTool({
    name: "lend_book",
    description: "Records that a book is lent.",
    input: z.object({ title: z.string().min(1).max(200), to: z.string().min(1).max(200) }),
    effect: "write", // Pawl asks the person first
    afterCrash: "run-again", // `applyOnce` applies each call once
    examples: ["lend Dune to Grace"],
    preview: ({ title, to }) => ({
      summary: `Lend ${title} to ${to}`,
      action: "safe_create",
      diff: { before: null, after: { title, to } },
    }),
    inverse: ({ title }) => ({ tool: "return_book", input: { title } }),
    async run({ title, to }, call) {
      const id = call.callId // one row for each call
      const sql = "INSERT INTO pack_books_loan (id, person, title, lent_to) VALUES (?, ?, ?, ?)"
      await tables.applyOnce(call, [{ sql, values: [id, call.user, title, to] }], null)
      return answer(`${title} is lent to ${to}.`)
    },
  })

const returnBook = (tables: PackTables) =>
  defineTool({
    name: "return_book",
    description: "Records that a book is back.",
    input: z.object({ title: z.string().min(1).max(200) }),
    effect: "write",
    afterCrash: "run-again",
    preview: ({ title }) => ({ summary: `${title} is back`, action: "destructive_delete" }),
    inverse: false,
    async run({ title }, call: CallContext) {
      const sql = "DELETE FROM pack_books_loan WHERE person = ? AND title = ?"
      const done = await tables.applyOnce(call, [{ sql, values: [call.user, title], mustChange: true }], "back")
      return done ? answer(`${title} is back.`) : failed(`${title} is not lent.`)
    },
  })
