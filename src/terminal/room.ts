/** How much of the screen there is, in characters. */
export interface Room {
  readonly columns: number
  readonly rows: number
}
