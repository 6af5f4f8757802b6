/** The views that the page draws results with: the `kind` in a result's `data` names one. A file in web/views each. */
export const viewNames = ["table", "chart", "text", "markdown", "diff", "sources", "files"] as const
export type ViewName = (typeof viewNames)[number]
