/** The tools that find what has given way: what the model is told of it names them. */
export const FIND_EARLIER = "find_earlier"
export const READ_EARLIER = "read_earlier"
