/** What tests ask of elements inside the browser. The rest of this program does not know a DOM, and shall not. */
interface Element {
  readonly scrollHeight: number
  readonly scrollTop: number
  readonly clientHeight: number
  readonly textContent: string | null
  getAttribute(name: string): string | null
  matches(selector: string): boolean
}
