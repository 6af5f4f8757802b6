/** What is so, or what is wrong and what to do about it. */
export type Finding = readonly [mark: "ok" | "note" | "wrong", what: string]
