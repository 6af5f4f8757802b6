export type TaskView = "board" | "list"

const KEY = "pawl.tasks"

/** How the person last looked at their tasks. */
export function readTaskView(): TaskView {
  try {
    return localStorage.getItem(KEY) === "list" ? "list" : "board"
  } catch {
    return "board" // storage is refused
  }
}

export function saveTaskView(view: TaskView): void {
  try {
    localStorage.setItem(KEY, view)
  } catch {
    // Then it holds until the page is closed.
  }
}
