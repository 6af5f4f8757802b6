import { deflateSync } from "node:zlib"

/** A PDF with one line of text on each page. */
export function smallPdf(pages: readonly string[], info = ""): Buffer {
  return assemble(
    pages.map((text) => {
      const content = `BT /F1 12 Tf 20 200 Td (${text.replaceAll(/[()\\]/g, "\\$&")}) Tj ET`
      return Buffer.from(`<</Length ${content.length}>>stream\n${content}\nendstream`)
    }),
    info,
  )
}

/** Text at a position of a page, from its lower left corner, in points. `hex` are codes of a font, as they are. */
export interface Placed {
  readonly x: number
  readonly y: number
  readonly text?: string
  readonly hex?: string
  readonly size?: number
  readonly font?: string
  /** Upright, from bottom to top. */
  readonly turned?: boolean
}

/** A PDF whose pages have text at given positions, in the order of the list; `fonts` are objects by their names. */
export function placedPdf(
  pages: readonly (readonly Placed[])[],
  {
    info = "",
    fonts = {},
    page = "0 0 600 800",
  }: { info?: string; fonts?: Record<string, string>; page?: string } = {},
): Buffer {
  const contents = pages.map((placed) => {
    const content = placed
      .map(({ x, y, text = "", hex, size = 10, font = "F1", turned }) => {
        const string = hex === undefined ? `(${text.replaceAll(/[()\\]/g, "\\$&")})` : `<${hex}>`
        return `BT /${font} ${size} Tf ${turned ? "0 1 -1 0" : "1 0 0 1"} ${x} ${y} Tm ${string} Tj ET`
      })
      .join("\n")
    return Buffer.from(`<</Length ${content.length}>>stream\n${content}\nendstream`)
  })
  const named = Object.entries(fonts).map(([name, object]) => `/${name} ${object}`)
  return assemble(contents, info, { page, fonts: named.join("") })
}

/** A font that many programs of East Asia write, without a table of what its codes mean. */
export const eastAsianFont = (encoding: string, ordering: string) =>
  `<</Type/Font/Subtype/Type0/BaseFont/Foreign/Encoding/${encoding}/DescendantFonts[<</Type/Font/Subtype/CIDFontType0` +
  `/BaseFont/Foreign/CIDSystemInfo<</Registry(Adobe)/Ordering(${ordering})/Supplement 2>>/DW 1000` +
  `/FontDescriptor<</Type/FontDescriptor/FontName/Foreign/Flags 4/FontBBox[0 -200 1000 900]/ItalicAngle 0/Ascent 800/Descent -200` +
  `/CapHeight 700/StemV 80>>>>]>>`

/** A font whose codes are those of Unicode, half as wide as high. */
export const unicodeFont =
  `<</Type/Font/Subtype/Type0/BaseFont/Foreign/Encoding/Identity-H/ToUnicode/Identity-H/DescendantFonts[<</Type/Font` +
  `/Subtype/CIDFontType2/BaseFont/Foreign/CIDSystemInfo<</Registry(Adobe)/Ordering(Identity)/Supplement 0>>/DW 500` +
  `/FontDescriptor<</Type/FontDescriptor/FontName/Foreign/Flags 4/FontBBox[0 -200 1000 900]/ItalicAngle 0/Ascent 800/Descent -200` +
  `/CapHeight 700/StemV 80>>>>]>>`

/** A few kilobytes that expand to hundreds of megabytes of nothing. */
export function pdfBomb(megabytes: number): Buffer {
  const content = deflateSync(Buffer.alloc(megabytes * 1024 * 1024, "1 0 0 1 0 0 cm "), { level: 1 })
  const head = Buffer.from(`<</Length ${content.length}/Filter/FlateDecode>>stream\n`)
  return assemble([Buffer.concat([head, content, Buffer.from("\nendstream")])], "")
}

function assemble(
  contents: readonly Buffer[],
  info: string,
  { page: box = "0 0 600 300", fonts = "" }: { page?: string; fonts?: string } = {},
): Buffer {
  const kids = contents.map((_, i) => `${5 + 2 * i} 0 R`).join(" ")
  const page = (content: number) =>
    `<</Type/Page/Parent 2 0 R/MediaBox[${box}]/Resources<</Font<</F1 3 0 R${fonts}>>>>/Contents ${content} 0 R>>`
  const objects: (string | Buffer)[] = [
    "<</Type/Catalog/Pages 2 0 R>>",
    `<</Type/Pages/Kids[${kids}]/Count ${contents.length}>>`,
    "<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
    `<<${info}>>`,
    ...contents.flatMap((content, i) => [page(6 + 2 * i), content]),
  ]
  const parts = [Buffer.from("%PDF-1.4\n")]
  const size = () => parts.reduce((sum, part) => sum + part.length, 0)
  const offsets = objects.map((object, i) => {
    const at = size()
    parts.push(Buffer.from(`${i + 1} 0 obj\n`), Buffer.from(object), Buffer.from("\nendobj\n"))
    return `${String(at).padStart(10, "0")} 00000 n \n`
  })
  const end = size()
  const count = objects.length + 1
  const table = `xref\n0 ${count}\n0000000000 65535 f \n${offsets.join("")}`
  const trailer = `trailer<</Size ${count}/Root 1 0 R/Info 4 0 R>>\nstartxref\n${end}\n%%EOF`
  return Buffer.concat([...parts, Buffer.from(table + trailer)])
}
