import { describe, expect, test } from "vitest"
import fc from "fast-check"
import { JsonLimitError, type JsonLimits, JsonMeter, readJson, tryReadJson } from "./read-json.ts"

const limits: JsonLimits = { characters: 1000, values: 20, names: 5, depth: 4 }

describe("readJson", () => {
  test.each([
    ["is longer", `"${"a".repeat(1000)}"`, "it is longer than 1000 characters"],
    ["holds more items", `[${"0,".repeat(20)}0]`, "it holds more than 20 values"],
    ["holds more lists in lists", `[${"[[]],".repeat(8)}0]`, "it holds more than 20 values"],
    [
      "has more names in one object",
      '[1,{"a":1,"b":1,"c":1,"d":1,"e":1,"f":1}]',
      "one of its objects has more than 5 names",
    ],
    ["is nested deeper", "[[[[[1]]]]]", "it is nested more than 4 deep"],
    ["is nested deeper in an object", '{"a":{"a":{"a":{"a":{}}}}}', "it is nested more than 4 deep"],
    ["is no JSON, and nested deeper", "]]]]]][[[[[[", "it is nested more than 4 deep"],
  ])("refuses a text that %s than its limits allow, before it is parsed", (_, text, problem) => {
    expect(() => readJson(text, limits)).toThrow(new JsonLimitError(problem))
    expect(tryReadJson(text, limits)).toBeUndefined()
  })

  test("reads what is at its limits", () => {
    const text = JSON.stringify({
      a: [1, 2, 3],
      b: { c: "x,[{" },
      d: '"\\,,,,,,,,,,,,,,,,,,,,,,,,',
      e: [[[]]],
      f: "\\",
    })
    expect(readJson(text, limits)).toEqual(JSON.parse(text))
  })

  test("counts names by object: two objects with five names each do not count as ten", () => {
    const five = '{"a":1,"b":1,"c":1,"d":1,"e":1}'
    expect(readJson(`[${five},${five}]`, limits)).toHaveLength(2)
  })

  test("leaves malformed JSON to the parser", () => {
    expect(() => readJson("{", limits)).toThrow(SyntaxError)
  })
})

describe("JsonMeter", () => {
  const problemOf = (work: () => void) => {
    try {
      work()
    } catch (error) {
      return (error as Error).message
    }
  }

  test("counts the same however a text is split", () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 6 }), fc.array(fc.nat(40), { maxLength: 30 }), (text, cuts) => {
        const inPieces = () => {
          const meter = new JsonMeter(limits)
          let at = 0
          for (const length of cuts) meter.add(text.slice(at, (at += length)))
          meter.add(text.slice(at))
        }
        expect(problemOf(inPieces)).toBe(problemOf(() => new JsonMeter(limits).add(text)))
      }),
      // Too many values, and later too many names, with a cut between them.
      { examples: [[`[${"0,".repeat(21)}{"a":1,"b":1,"c":1,"d":1,"e":1,"f":1}]`, [33, 9]]] },
    )
  })

  test("counts at least every value that the parser creates", () => {
    const countOf = (value: unknown): number =>
      typeof value === "object" && value !== null
        ? 1 + Object.values(value).reduce<number>((sum, each) => sum + countOf(each), 0)
        : 1
    fc.assert(
      fc.property(fc.json({ maxDepth: 6 }), (text) => {
        const values = Math.max(1, countOf(JSON.parse(text)) - 1)
        expect(
          problemOf(() => readJson(text, { characters: 1e6, names: 1e6, depth: 100, values: values - 1 })),
        ).toBeDefined()
      }),
    )
  })

  test("is not misled by a quote in the line before", () => {
    const meter = new JsonMeter(limits)
    expect(() => meter.add(`id: "\ndata: [${"0,".repeat(30)}0]`)).toThrow("more than 20 values")
  })

  test("starts over with the next text", () => {
    const meter = new JsonMeter(limits)
    for (let text = 0; text < 5; text++) {
      meter.add('["a,[0,0,0,0,0,0,0')
      meter.reset()
    }
  })
})
