// Package runtime serves skills to an agent. It is the Go API behind the commands prompt, load, read, run, and message.
//
//	h, err := runtime.Open(ctx, dir)
//	listing, err := h.Prompt(ctx, prompt.Options{ContextWindow: 200_000}) // for the system prompt
//	a, err := h.Load(ctx, "deploy", session.Activate{Arguments: "production"}) // when the model asks for it
//	text := prompt.Text(h.Profile(), a.Result())
//
// [Open] uses the operating system's defaults, [New] takes everything from its [Options]. Both are cheap: skills are
// read when they are first needed. Nothing here needs a certain model, agent, or vendor.
//
// Start reading at [Host]. The room's packages:
//
//   - catalog finds the skills that an agent sees, from local layers and installed packs, and those that fit a task.
//   - session records which skills are active, and decides what their tool restrictions allow.
//   - prompt writes what a model reads: the list of skills, and the result of an activation. It performs no I/O.
//   - task runs skills apart from the conversation.
//   - internal/run runs scripts and programs with limits, and ends everything that they start.
//
// This package is part of skillpm's embedding API and keeps compatibility.
package runtime
