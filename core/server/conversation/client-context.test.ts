import { describe, expect, test } from "vitest"
import { toClientContext } from "./client-context.ts"

const of = (context: Record<string, unknown>) => toClientContext(Object.entries(context))

describe("the context of a client", () => {
  test("is one line per entry, the usual names first", () => {
    const brought = of({
      locale: "de",
      conversation_history: [
        { role: "user", content: "Hi" },
        { role: "assistant", content: "Hello." },
      ],
      recent_tasks: [{ title: "Milk" }, "Bread"],
      user_profile: { name: "Ada", age: 36 },
    })
    expect(brought).toEqual([
      { name: "user_profile", text: "name: Ada\nage: 36" },
      { name: "recent_tasks", text: '{"title":"Milk"}\nBread' },
      { name: "conversation_history", text: "user: Hi\nassistant: Hello." },
      { name: "locale", text: "de" },
    ])
  })

  test("is empty if the client sends nothing", () => {
    expect(of({ a: null, b: "", c: [], d: {}, e: "  ", f: [""] })).toEqual([])
  })

  test("is limited: the newest of a history and the first of the rest are included, and omissions are counted", () => {
    const many = Array.from({ length: 5000 }, (_, index) => `line ${index}`)
    const [documents, history] = of({ conversation_history: many, relevant_documents: many })
    expect(documents?.text).toMatch(/^line 0\nline 1\n[^]*\n\(\d+ more left out\)$/)
    expect(history?.text).toMatch(/^\(\d+ more left out\)\n[^]*\nline 4999$/)
    for (const brought of [documents, history]) expect(brought?.text.length).toBeLessThan(8100)
    const all = of(Object.fromEntries(many.map((name) => [name, "x".repeat(200)])))
    expect(all.length).toBe(64)
    const long = of(Object.fromEntries(many.map((name) => [name, "x".repeat(100_000)])))
    expect(long.reduce((sum, { text }) => sum + text.length, 0)).toBeLessThan(25_000)
  })

  test("has only its own properties, and splits no character", () => {
    const [proto] = toClientContext(Object.entries(JSON.parse('{"__proto__": {"mode": "auto"}}') as object))
    expect(proto).toEqual({ name: "__proto__", text: "mode: auto" })
    const [cut] = of({ a: `x${"😀".repeat(5000)}` })
    expect(cut?.text.isWellFormed()).toBe(true)
    const [name] = of({ ["a\nb".repeat(100)]: 1 })
    expect(name?.name).toMatch(/^[ab ]{100}$/)
  })
})
