import { mendText } from "../../core/pack.ts"
import { parseMarkup } from "./html/parse-markup.ts"
import type { WebResult } from "./search-provider.ts"

/** The results on a page of DuckDuckGo. Leaves out advertisements, whose links use another redirect. */
export function readResults(html: string): WebResult[] {
  const results: { title: string; url: string; snippet: string }[] = []
  let into: "title" | "snippet" | undefined
  parseMarkup(html, {
    open(name, { class: names = "", href = "" }) {
      if (name !== "a" && name !== "div" && name !== "td") return
      const classes = names.split(/\s+/)
      if (classes.includes("result__a")) {
        results.push({ title: "", url: targetOf(href), snippet: "" })
        into = "title"
      } else if (classes.includes("result__snippet") && results.length > 0) into = "snippet"
    },
    text(text) {
      const last = results.at(-1)
      if (into && last) last[into] = (last[into] + text).slice(0, 2000)
    },
    close(name) {
      if (name === "a" || name === "div" || name === "td") into = undefined
    },
  })
  return results
    .filter(({ url }) => /^https?:\/\//.test(url))
    .map(({ title, url, snippet }) => ({ title: tidy(title) || url, url: mendText(url), snippet: tidy(snippet) }))
}

/** The target of a result: links use the redirect `//duckduckgo.com/l/?uddg=<address>`. */
function targetOf(href: string): string {
  const url = URL.parse(href, "https://duckduckgo.com/")
  if (!url) return ""
  if (!/(^|\.)duckduckgo\.com$/.test(url.hostname)) return url.href
  return url.pathname === "/l/" ? (url.searchParams.get("uddg") ?? "") : ""
}

const tidy = (text: string) => mendText(text).replaceAll(/\s+/g, " ").trim()
