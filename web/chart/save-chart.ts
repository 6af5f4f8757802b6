import type { Format } from "./messages.ts"

/** Hands a picture to the person as a file. An SVG is made anew first: opened by itself it would be a page of its own. */
export async function saveChart(bytes: ArrayBuffer, format: Format, name: string): Promise<void> {
  const link = document.createElement("a")
  const url = URL.createObjectURL(await toBlob(bytes, format))
  link.href = url
  link.download = `${name.replaceAll(/[^\p{L}\p{N}]+/gu, "-").slice(0, 60) || "chart"}.${format}`
  link.click()
  setTimeout(() => URL.revokeObjectURL(url), 10_000)
}

async function toBlob(bytes: ArrayBuffer, format: Format): Promise<Blob> {
  if (format === "png") return new Blob([bytes], { type: "image/png" })
  const { cleanSvg } = await import("./clean-svg.ts")
  const svg = cleanSvg(new TextDecoder().decode(bytes))
  if (!svg) throw new Error("The chart could not be saved.")
  return new Blob([new XMLSerializer().serializeToString(svg)], { type: "image/svg+xml" })
}
