/** The DOM properties that tests read inside the browser. Other test code must not use the DOM. */
interface Element {
  readonly scrollHeight: number
  readonly scrollTop: number
  readonly clientHeight: number
  readonly textContent: string | null
  getAttribute(name: string): string | null
  matches(selector: string): boolean
}
