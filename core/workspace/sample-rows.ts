import { WorkspaceFile } from "../protocol/workspace-file.ts"
import { workspaceTables } from "../protocol/workspace-tables.ts"
import { dayAt } from "./days.ts"

/** A small workspace for a newcomer, with something due today, something late and notes worth searching. */
export function sampleFile(now: number, timeZone: string): WorkspaceFile {
  const day = (daysLater: number) => dayAt(now, timeZone, daysLater)
  // In different milliseconds, so that they are listed in this order.
  let made = now
  const row = (table: keyof typeof workspaceTables, id: string, columns: object) => {
    const at = made++
    const times = table === "notes" ? { createdAt: at, updatedAt: at } : { createdAt: at }
    return { ...workspaceTables[table].defaults, id, ...columns, ...times }
  }
  return WorkspaceFile.parse({
    clients: [
      row("clients", "harbour", { name: "Harbour Books", industry: "Bookshop" }),
      row("clients", "harbour-cafe", { name: "Harbour Books Café", industry: "Café", parentId: "harbour" }),
    ],
    projects: [
      row("projects", "shop", { name: "Online shop", clientId: "harbour" }),
      row("projects", "menu", { name: "Summer menu", clientId: "harbour-cafe" }),
    ],
    tasks: [
      row("tasks", "photos", {
        ...{ title: "Take photos of the new shelves", projectId: "shop", priority: "high", dueDate: day(0) },
        assignee: JSON.stringify(["Ada"]),
      }),
      row("tasks", "prices", {
        ...{
          title: "Check the prices of used books",
          projectId: "shop",
          status: "in_progress",
          dueDate: day(-1),
        },
        description: "The list from spring lacks the children's books.",
      }),
      row("tasks", "payments", { title: "Try a payment by card", projectId: "shop", dueDate: day(5) }),
      row("tasks", "domain", { title: "Renew the domain", projectId: "shop", status: "done", priority: "low" }),
      row("tasks", "tasting", {
        title: "Invite four people to the tasting",
        projectId: "menu",
        dueDate: day(2),
      }),
      row("tasks", "plants", { title: "Water the plants", priority: "low" }),
    ],
    taskComments: [
      row("taskComments", "light", { taskId: "photos", author: "Ada", content: "The light is best before ten." }),
      row("taskComments", "spring", { taskId: "prices", author: "Ben", content: "I have half of them." }),
    ],
    checkpoints: [
      row("checkpoints", "open", { projectId: "shop", title: "The shop opens", date: day(21) }),
      row("checkpoints", "printed", { projectId: "menu", title: "The menu is printed", date: day(10) }),
    ],
    notes: [
      row("notes", "call", {
        ...{ projectId: "shop", title: "Call with the owner" },
        content: "She wants **few clicks** and large pictures. Delivery only within the city at first, by bicycle.",
      }),
      row("notes", "tastes", {
        ...{ projectId: "menu", title: "What guests asked for" },
        content: "- something cold with lemon\n- a cake without flour\n- smaller portions at noon",
      }),
      row("notes", "live", {
        ...{ projectId: "shop", title: "Deployment" },
        content: "New versions of the shop go live on Mondays before opening hours. Keep the old one until noon.",
      }),
      row("notes", "ideas", { title: "Ideas", content: "A shelf where people leave a book and take another." }),
    ],
  })
}
