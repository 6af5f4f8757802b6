/** The actions of W12 at one server, and the events that it waits for at the other, by the name of the measurement. */
export const happenings = {
  letters: "letters of a reply at the other's watcher",
  reply: "a whole reply at the other's watcher",
  cancel: "cancel, until the other's model is let go of",
  device: "a call to the other's device and back",
  repeat: "a repeated key's answer, after the first's",
  erase: "delete, until the other's watcher is told",
  revoke: "revoke, until the other's stream ends",
} as const

export type Happening = keyof typeof happenings
