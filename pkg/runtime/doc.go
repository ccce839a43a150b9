// Package host is skillpm for a program that is an agent, or has one: what the commands prompt, load, read, run and message
// do, as a Go API.
//
//	h, err := host.Open(ctx, host.Options{Paths: paths, Dir: dir, Now: time.Now})
//	listing, err := h.Prompt(ctx, prompt.Options{ContextWindow: 200_000}) // for the system prompt
//	a, err := h.Load(ctx, "deploy", session.Activate{Arguments: "production"}) // when the model asks for it
//	text := prompt.Text(h.Profile(), a.Result())
//
// It puts together what other packages do, and adds nothing: the profile is that of a host system, the catalog has the
// skills in force, the session knows which are active. Nothing in it needs a certain model, agent or vendor.
//
// Opening one is cheap: the skills are looked for when they are first asked for.
package runtime
