import { describe, expect, test } from "vitest"
import { EncodingFinder, encodings, findEncoding } from "../../../core/shared/encoding/text-encoding.ts"
import { encodeAs } from "../encode-as.ts"

const JAPANESE = "名前,都市,備考\n田中さくら,東京,とても良いお客様です\n鈴木一郎,大阪,テスト\nスズキ,ナゴヤ,カタカナ\n"
const CHINESE = "姓名,城市,备注\n王小明,北京,这是一个很好的客户\n李华,上海,在中国有很多人\n张伟,广州,我们的老朋友\n"
const TAIWANESE = "姓名,城市,備註\n王小明,臺北,這是一個很好的客戶\n李華,高雄,我們的老朋友\n"
const KOREAN = "이름,도시,비고\n김민수,서울,아주 좋은 고객입니다\n이영희,부산,오래된 친구\n"
const RUSSIAN = "имя,город\nИван Петров,Москва\nМария,Санкт-Петербург\n"
const POLISH = "imię,miasto\nŁukasz,Łódź\nMałgorzata,Gdańsk\nStanisław,Białystok\n"

describe("the encoding of a text is detected", () => {
  test.each<[what: string, encoding: string, text: string]>([
    ["ASCII", "utf-8", "a,b\n1,2\n"],
    ["UTF-8", "utf-8", "stadt\nKöln\n東京\n"],
    ["UTF-16, small end first, without a mark", "utf-16le", "stadt,n\nKöln,1\n"],
    ["UTF-16, big end first, without a mark", "utf-16be", "stadt,n\nKöln,1\n"],
    ["UTF-16 of few Latin letters", "utf-16le", "一,東京\n一,二\n一,北京\n"],
    ["German", "windows-1252", "stadt;straße\nKöln;Größenweg 5\nMÜNCHEN;Öffnung\n"],
    ["French", "windows-1252", "ville,note\nOrléans,l’été – créée à cœur\nÉvry,«déjà»\n"],
    ["prices", "windows-1252", "artikel;preis\nTee;12,50 €\nEis;£3\n"],
    ["one town", "windows-1252", "stadt,n\nKöln,1\n"],
    ["a degree", "windows-1252", "t,n\n21°C,1\n"],
    ["Japanese of Windows", "shift_jis", JAPANESE],
    ["nothing but kana", "shift_jis", "a,b\nテスト,データ\nスズキ,ホンダ\n"],
    ["Japanese of UNIX", "euc-jp", JAPANESE],
    ["Chinese", "gb18030", CHINESE],
    ["Chinese of Taiwan", "big5", TAIWANESE],
    ["Korean", "euc-kr", KOREAN],
  ])("%s: %s", (_what, encoding, text) => {
    const found = findEncoding(encodeAs(encoding, text))
    expect(found).toMatchObject({ type: "text", encoding, broken: false })
    expect(new TextDecoder(encoding).decode(encodeAs(encoding, text))).toBe(text)
  })

  test.each(["utf-8", "utf-16le", "utf-16be"])("a byte order mark means %s", (encoding) => {
    const found = findEncoding(encodeAs(encoding, "\uFEFFstadt\nKöln\n"))
    expect(found).toEqual({ type: "text", encoding, sure: true, broken: false })
  })

  test("a few wrong bytes in much UTF-8 do not make every letter wrong", () => {
    const bytes = Buffer.concat([Buffer.from("Köln,Größe\n".repeat(50_000)), Buffer.from([0xff, 10])])
    expect(findEncoding(bytes)).toEqual({ type: "text", encoding: "utf-8", sure: false, broken: true })
    const cut = Buffer.from("Köln,Größe,ä").subarray(0, -1)
    expect(findEncoding(cut)).toMatchObject({ encoding: "utf-8", broken: true })
  })

  test.each([["shift_jis", JAPANESE] as const, ["windows-1252", "Köln\n"] as const, ["utf-16be", "Köln\n"] as const])(
    "%s is the same however it is split into chunks",
    (encoding, text) => {
      const bytes = encodeAs(encoding, text)
      for (const size of [1, 2, 3, 7]) {
        const finder = new EncodingFinder()
        for (let at = 0; at < bytes.length; at += size) finder.see(bytes.subarray(at, at + size))
        expect(finder.end(), `${size} bytes at once`).toEqual(findEncoding(bytes))
      }
    },
  )
})

describe("a text that would be decoded wrongly is refused", () => {
  test.each<[what: string, bytes: Uint8Array]>([
    ["Russian of Windows", encodeAs("windows-1251", RUSSIAN)],
    ["Russian of UNIX", encodeAs("koi8-r", RUSSIAN)],
    ["Polish of Windows", encodeAs("windows-1250", POLISH)],
    ["German of old Macintoshes", encodeAs("macintosh", "stadt\nKöln\nMünchen\nGräfelfing\n")],
    ["German of DOS", Buffer.from("stadt\nK\x94ln\nM\x81nchen\nGr\x84felfing\n", "latin1")],
    ["Japanese of mail", Buffer.from("a\n\x1b$B%F%9%H\x1b(B\n")],
    ["a program", Buffer.from([0x7f, 0x45, 0x4c, 0x46, 0, 0, 1])],
    ["a picture", Buffer.from("89504e470d0a1a0a0000000d49484452000000100000001008060000001ff3ff61", "hex")],
    ["UTF-32", Buffer.from([0xff, 0xfe, 0, 0, 97, 0, 0, 0])],
    ["a NUL", Buffer.from("a,b\n1\0,2\n")],
  ])("%s", (_what, bytes) => {
    expect(findEncoding(bytes)).toEqual({
      type: "unknown",
      because: expect.stringMatching(/^it /),
      problem: expect.stringMatching(/save it as UTF-8|it is a picture/),
    })
  })
})

test("the platform can decode every encoding that a request may name", () => {
  for (const encoding of encodings) expect(() => new TextDecoder(encoding, { fatal: true })).not.toThrow()
})
