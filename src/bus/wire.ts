/**
 * How the processes of one cluster hear each other. Nothing true depends on it: what it carries may be lost, and while it
 * is down nothing is sent or kept for later. Between two processes nothing overtakes.
 */
export interface Wire extends AsyncDisposable {
  /** The name of this process among the others. */
  readonly self: string
  readonly up: boolean
  /** How long the way to whoever carries it and back took the last time; undefined while it is down. */
  readonly lagMs: number | undefined
  /** How much was sent of which nothing has been heard yet. */
  readonly unheard: number
  /** So many characters are surely carried at a time, whatever they are. No single word is longer than `MAX_WORD`. */
  readonly room: number
  send(to: Addressee, text: string): void
  /** Called with whatever was sent to this process or to everybody, and when the wire goes up, goes down or has lost something. */
  listen(ears: WireEars): void
  /** Hands a text to one process. */
  deliver(to: string, text: string): Promise<Delivery>
  onDelivery(listener: (text: string) => void): void
}

/** `taken`: it has the text. `nobody`: it surely has not. `unknown`: nothing was heard of it. */
export type Delivery = "taken" | "nobody" | "unknown"

/** The longest that one process says in one word, in characters: a wire with less room is of no use. */
export const MAX_WORD: number = 20_000

/** One process by its name, or all but oneself. */
export type Addressee = string | typeof EVERYBODY
export const EVERYBODY: unique symbol = Symbol("everybody")

export interface WireEars {
  heard(text: string): void
  changed(): void
}
