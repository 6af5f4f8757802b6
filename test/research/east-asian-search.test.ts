import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { cutPassages } from "../../packs/research/passages/cut-passages.ts"
import type { CollectionId, UserId } from "../../core/protocol/ids.ts"
import { SqlLibrary } from "../../core/store/library/library.ts"
import { PassageIndexer } from "../../core/store/library/passage-indexer.ts"
import { openStore, type Store } from "../../core/store/store.ts"
import { databasesInTurn } from "../support/databases.ts"
import { WordEmbedder } from "../support/word-embedder.ts"
import { TurnedClock } from "../support/loop/world.ts"

const texts = {
  ja: "深層学習による画像認識の研究。ｶﾀｶﾅも使う。",
  zh: "本文讨论神经网络在机器翻译中的应用。",
  ko: "한국어 문장에서 인공지능을 연구하였다.",
  th: "การเรียนรู้เชิงลึกสำหรับภาษาไทย",
  mixed: "We use the Transformer (変換器) with 12 layers.",
  en: "Lift grows with the angle of the wing.",
}
const quiet = { info() {}, warn() {}, error() {} }

describe.each(databasesInTurn(import.meta.filename))(
  "passages in languages without spaces between words, on $name",
  ({ create }) => {
    let store: Store
    let library: SqlLibrary
    let user: UserId
    let collection: CollectionId
    const clock = new TurnedClock()
    const embedder = new WordEmbedder()

    const keep = async (source: string, text: string, headings: readonly string[] = []) => {
      const passages = cutPassages(text, [{ headings, start: 0, end: text.length }])
      const about = { source, kind: "text", title: source, authors: [], date: null, hash: `hash of ${text}` } as const
      return library.keep(user, collection, { ...about, text, passages })
    }
    const found = async (text: string) => (await library.search(user, { text, limit: 10 })).map(({ source }) => source)

    beforeAll(async () => {
      store = await openStore({ url: (await create()).url, durability: "normal", clock })
      library = new SqlLibrary(store.engine, { clock, embedder: embedder.name })
      user = (await store.people.ensure("ada", 0)).id
      collection = await library.ensureCollection(user, "Papers")
      for (const [source, text] of Object.entries(texts)) await keep(source, text)
      await keep("headed", "Nothing but words.", ["第三章 結論"])
    })
    afterAll(() => store[Symbol.asyncDispose]())

    test.each([
      ["画像", "ja"],
      ["画像認識について", "ja"],
      ["学", "ja"],
      ["究", "ja"],
      ["カタカナ", "ja"],
      ["机器翻译", "zh"],
      ["译", "zh"],
      ["인공지능", "ko"],
      ["연구", "ko"],
      ["ภาษาไทย", "th"],
      ["ลึก", "th"],
      ["変換器", "mixed"],
      ["transformers 変換", "mixed"],
      ["結論", "headed"],
      ["angles", "en"],
    ])("%s is found", async (query, source) => expect((await found(query))[0]).toBe(source))

    test("text that does not occur is not found, and operators in a query are plain characters", async () => {
      expect(await found("天気予報")).toEqual([])
      expect(await found('天"気* OR 予:* | (')).toEqual([])
    })

    test("replaced and removed passages are no longer found", async () => {
      const { id } = await keep("passing", "量子計算機の話。")
      expect(await found("量子")).toEqual(["passing"])
      await keep("passing", "別の話。")
      expect(await found("量子")).toEqual([])
      expect(await found("別の話")).toContain("passing")
      await library.removeDocument(user, collection, id)
      expect(await found("別の話")).not.toContain("passing")
    })

    test("passages from before this index existed are found after the next indexing, and indexed once", async () => {
      await keep("old", "昔の文書。")
      const forget = "UPDATE passage SET grams = NULL WHERE text LIKE '昔%'"
      await store.engine.change({ type: "statements", statements: [{ sql: forget, values: [] }] })
      expect(await found("文書")).not.toContain("old")
      const indexer = new PassageIndexer({ library, embedder, clock, log: quiet })
      await indexer.settled()
      await indexer.close()
      expect(await found("文書")).toContain("old")
      const left = await store.engine.query("SELECT 1 FROM passage WHERE grams IS NULL", [])
      expect(left).toEqual([])
    })
  },
)
