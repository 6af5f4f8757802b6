/** The version of event bodies this build writes and understands. */
export const EVENT_VERSION = 1
