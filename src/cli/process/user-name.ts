import { userInfo } from "node:os"

/** Who sits at this machine. A container may run as a user that has no name. */
export function userName(): string {
  try {
    return userInfo().username || "owner"
  } catch {
    return "owner"
  }
}
