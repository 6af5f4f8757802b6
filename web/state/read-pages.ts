import type { Page } from "../../src/protocol/index.ts"

interface PageQuery {
  readonly limit: number
  readonly cursor?: string
}

/** All pages of a list that is short. */
export async function readPages<Item>(read: (query: PageQuery) => Promise<Page<Item>>): Promise<Item[]> {
  const all: Item[] = []
  let cursor: string | null = null
  do {
    const page: Page<Item> = await read({ limit: 100, ...(cursor === null ? {} : { cursor }) })
    all.push(...page.items)
    cursor = page.nextCursor
  } while (cursor !== null)
  return all
}
