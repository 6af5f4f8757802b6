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

/** A few kilobytes that become hundreds of megabytes of nothing. */
export function pdfBomb(megabytes: number): Buffer {
  const content = deflateSync(Buffer.alloc(megabytes * 1024 * 1024, "1 0 0 1 0 0 cm "), { level: 1 })
  const head = Buffer.from(`<</Length ${content.length}/Filter/FlateDecode>>stream\n`)
  return assemble([Buffer.concat([head, content, Buffer.from("\nendstream")])], "")
}

function assemble(contents: readonly Buffer[], info: string): Buffer {
  const kids = contents.map((_, i) => `${5 + 2 * i} 0 R`).join(" ")
  const page = (content: number) =>
    `<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 300]/Resources<</Font<</F1 3 0 R>>>>/Contents ${content} 0 R>>`
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
