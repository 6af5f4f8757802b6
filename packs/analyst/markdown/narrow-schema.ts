import type { DatabaseTable } from "../database/schema.ts"

/** The tables that share words with a question, and the tables that join them, best first. */
export function fittingTables(tables: readonly DatabaseTable[], question: string): DatabaseTable[] {
  const asked = new Set(wordsOf(question))
  const frequency = new Map<string, number>()
  const described = tables.map((table) => ({ table, words: describe(table) }))
  for (const { words } of described) {
    for (const word of words.keys()) frequency.set(word, (frequency.get(word) ?? 0) + 1)
  }
  const scores = new Map(
    described.map(({ table, words }) => {
      let score = 0
      // A word that occurs in few tables is a stronger sign.
      for (const word of asked) {
        score += (words.get(word) ?? 0) * Math.log(1 + tables.length / (frequency.get(word) ?? 1))
      }
      return [table.name, score]
    }),
  )
  const direct = new Map(scores)
  // Questions about two tables need the tables that join them.
  for (const { name, foreignKeys } of tables) {
    for (const { table: other } of foreignKeys) {
      const [near, far] = [direct.get(name) ?? 0, direct.get(other) ?? 0]
      if (scores.has(other)) scores.set(other, (scores.get(other) ?? 0) + near / 4)
      scores.set(name, (scores.get(name) ?? 0) + far / 4)
    }
  }
  const scoreOf = ({ name }: DatabaseTable) => scores.get(name) ?? 0
  return tables.filter((table) => scoreOf(table) > 0).sort((a, b) => scoreOf(b) - scoreOf(a))
}

const WEIGHT = { name: 4, column: 2, comment: 1 }

function describe({ name, comment, columns }: DatabaseTable): ReadonlyMap<string, number> {
  const words = new Map<string, number>()
  const add = (text: string, weight: number) => {
    for (const word of wordsOf(text)) words.set(word, Math.max(words.get(word) ?? 0, weight))
  }
  add(comment ?? "", WEIGHT.comment)
  for (const column of columns) {
    add(column.comment ?? "", WEIGHT.comment)
    add(column.name, WEIGHT.column)
  }
  add(name, WEIGHT.name)
  return words
}

/** Words, also within names: `OrderItems` and `order_items` are order, item. */
function wordsOf(text: string): string[] {
  const parts = text
    .replaceAll(/(\p{Ll}|\d)(\p{Lu})/gu, "$1 $2")
    .toLowerCase()
    .match(/[\p{L}\d]+/gu)
  return (parts ?? []).filter((word) => word.length > 1).map(stem)
}

function stem(word: string): string {
  if (word.length < 4) return word
  return word.replace(/ies$/, "y").replace(/(?<=[^s])s$/, "")
}
