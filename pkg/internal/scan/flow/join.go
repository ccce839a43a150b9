package flow

import (
	"cmp"
	"path"
	"slices"
	"strings"
)

// maxSteps is the number of steps of data that [Join] follows for one skill.
const maxSteps = 2_000_000

// maxFlows is the number of flows that [Join] returns.
const maxFlows = 300

// graph is how data passes in one skill.
type graph struct {
	facts []Fact
	nodes []node  // fact is an index of facts
	first []int32 // of each node: the index in next of the first node that its data passes to
	next  []int32
	steps int
	stems map[string]bool // the files' names without extension
}

// Join returns what the files of one skill do together. The order of summaries does not matter. nil ones are ignored.
func Join(summaries []*Summary) *Facts {
	var g graph
	out := &Facts{}
	summaries = slices.DeleteFunc(slices.Clone(summaries), func(s *Summary) bool { return s == nil })
	slices.SortStableFunc(summaries, func(a, b *Summary) int { return strings.Compare(a.path, b.path) })
	g.stems = map[string]bool{}
	for _, s := range summaries {
		g.stems[stemOf(path.Base(s.path))] = true
	}
	var kinds kindSet
	facts := 0
	for _, s := range summaries {
		out.Partial = out.Partial || s.partial
		facts += len(s.facts)
		for i := range s.facts {
			kinds |= 1 << s.facts[i].Kind
		}
	}
	g.facts = make([]Fact, 0, facts)
	for _, s := range summaries {
		g.facts = append(g.facts, s.facts...)
	}
	if kinds.mayFlow() {
		g.connect(summaries)
	}
	out.Flows = g.flows()
	out.Partial = out.Partial || g.steps >= maxSteps
	out.All = g.facts
	slices.SortStableFunc(out.All, compareFacts)
	slices.SortStableFunc(out.Flows, func(a, b Flow) int {
		return cmp.Or(compareFacts(a.To, b.To), compareFacts(a.From, b.From))
	})
	return out
}

// kindSet is a set of kinds of facts.
type kindSet uint64

func (s kindSet) has(kinds ...Kind) bool {
	for _, k := range kinds {
		if s&(1<<k) != 0 {
			return true
		}
	}
	return false
}

// mayFlow reports whether there can be a flow between facts of these kinds, see [meaning].
func (s kindSet) mayFlow() bool {
	loads := s.has(Downloads, Uploads)
	return s.has(Downloads, Uploads, Connects, LooksUp, Mails) && s.has(
		ReadsVariable, ReadsDotenv, ReadsEnvironment, ReadsAgent, ReadsKey, ReadsKeychain, ReadsBrowser, ReadsWallet,
		ReadsHistory, ReadsHome, ReadsClipboard, ReadsFile, ReadsSkill, Decodes) ||
		s.has(RunsFile, RunsComputed) && (loads || s.has(Decodes, Connects)) ||
		s.has(Persists, WritesAgent, WritesSkill) && loads
}

func compareFacts(a, b Fact) int {
	return cmp.Or(strings.Compare(a.File, b.File), cmp.Compare(a.Start, b.Start), cmp.Compare(a.Kind, b.Kind),
		strings.Compare(a.Detail, b.Detail))
}

// connect adds the nodes and edges of files, and merges nodes with the same key.
func (g *graph) connect(files []*Summary) {
	nodes, edges := 0, 0
	for _, f := range files {
		nodes, edges = nodes+len(f.nodes), edges+len(f.edges)
	}
	keys := map[string]int32{}
	ids := make([]int32, 0, nodes) // of the nodes of all files in order
	g.nodes = make([]node, 0, nodes)
	facts := int32(0)
	for _, f := range files {
		for _, n := range f.nodes {
			shared := n.key != "" && !n.step
			id, known := int32(len(g.nodes)), false
			if shared {
				if other, ok := keys[n.key]; ok {
					id, known = other, true
				} else {
					keys[n.key] = id
				}
			}
			if !known {
				if n.fact >= 0 {
					n.fact += facts
				}
				g.nodes = append(g.nodes, n)
			}
			ids = append(ids, id)
		}
		facts += int32(len(f.facts))
	}
	g.first, g.next = make([]int32, len(g.nodes)+1), make([]int32, edges)
	each := func(visit func(from, to int32)) {
		base := 0
		for _, f := range files {
			for _, e := range f.edges {
				visit(ids[base+int(e[0])], ids[base+int(e[1])])
			}
			base += len(f.nodes)
		}
	}
	each(func(from, _ int32) { g.first[from+1]++ })
	for i := range g.nodes {
		g.first[i+1] += g.first[i]
	}
	at := slices.Clone(g.first)
	each(func(from, to int32) {
		g.next[at[from]] = to
		at[from]++
	})
}

// flows follows the data of every fact to the first facts that it reaches.
func (g *graph) flows() (flows []Flow) {
	seen := make([]int32, len(g.nodes))
	came := make([]int32, len(g.nodes))
	var queue []int32
	for start, n := range g.nodes {
		if n.fact < 0 || g.first[start] == g.first[start+1] {
			continue
		}
		mark := int32(start) + 1
		seen[start], came[start] = mark, -1
		queue = append(queue[:0], int32(start))
		for len(queue) > 0 {
			id := queue[0]
			queue = queue[1:]
			if f := g.nodes[id].fact; f >= 0 && int(id) != start {
				if flow, ok := g.flow(g.facts[n.fact], g.facts[f], came, id); ok {
					if flows = append(flows, flow); len(flows) >= maxFlows {
						g.steps = maxSteps
						return g.spread(flows)
					}
				}
				continue
			}
			if stem, ok := strings.CutPrefix(g.nodes[id].key, "extern "); ok && g.stems[stem] {
				continue // the skill has this module: its functions say what they return
			}
			for _, to := range g.next[g.first[id]:g.first[id+1]] {
				if g.steps++; g.steps >= maxSteps {
					return g.spread(flows)
				}
				if seen[to] != mark {
					seen[to], came[to] = mark, id
					queue = append(queue, to)
				}
			}
		}
	}
	return g.spread(flows)
}

// flow returns the flow from one fact to another, if it means something.
func (g *graph) flow(from, to Fact, came []int32, end int32) (Flow, bool) {
	f := Flow{From: from, To: to, Sure: min(from.Sure, to.Sure), Drop: IsDrop(to.Host), Reserved: to.Host != "" &&
		IsReserved(to.Host)}
	if from.Kind == Downloads || from.Kind == Uploads || from.Kind == Connects {
		f.Reserved = from.Host != "" && IsReserved(from.Host)
	}
	var p passed
	hops := 0
	for id := came[end]; id >= 0; id = came[id] {
		mark := ":"
		if g.nodes[id].step {
			mark = "\x00"
		}
		switch kind, name, _ := strings.Cut(g.nodes[id].key, mark); kind {
		case "select":
			p.selected = true
			if name != "" {
				p.entries += " " + name
			}
		case "header":
			p.header = true
		case "address":
			p.address = true
		case "encode":
			p.encoded = true
		case "file":
			f.Via = append(f.Via, name)
		case "out", "in":
			name, _, _ = strings.Cut(name, " ")
			f.Via = append(f.Via, name)
		case "call", "result":
			name, _, _ = strings.Cut(name, " ")
			f.Via = append(f.Via, name)
			f.Sure = min(f.Sure, Likely)
			if hops++; hops > 6 {
				f.Sure = Possible
			}
		}
	}
	slices.Reverse(f.Via)
	f.Via = slices.Compact(f.Via)
	f.Via = f.Via[:min(len(f.Via), 8)]
	f.Kind = meaning(&f, p)
	f.entries = p.entries
	if f.Kind == Exfiltrates && (f.Drop && p.encoded || to.Host == "" && to.Kind == Uploads && onlyPrivate(from)) {
		f.Sure = max(f.Sure, Likely)
	}
	return f, f.Kind != 0
}

// onlyPrivate reports whether no service needs what is read, wherever it is sent.
func onlyPrivate(from Fact) bool {
	switch from.Kind {
	case ReadsEnvironment, ReadsBrowser, ReadsWallet, ReadsHistory:
		return true
	case ReadsKey:
		return strings.Contains(from.Detail, "/.ssh/") || strings.HasSuffix(from.Detail, ".git/config")
	}
	return false
}

// passed is how a value reached a request.
type passed struct {
	selected bool // one entry of it
	entries  string
	header   bool // as a header
	address  bool // as a part of the address
	encoded  bool // in base64
}

// meaning returns the kind of a flow, or 0.
func meaning(f *Flow, p passed) Meaning {
	switch f.To.Kind {
	case Downloads, Uploads, Connects, LooksUp, Mails:
		if f.From.Kind == Decodes && p.address && f.From.Client != "Buffer.from" {
			if f.To.Host != "" && strings.Contains(f.To.Detail, "…") {
				return 0 // the host is literal
			}
			return HidesAddress
		}
		return f.sent(p)
	case RunsFile, RunsComputed:
		switch f.From.Kind {
		case Downloads, Uploads:
			return RunsDownload
		case Decodes:
			return RunsDecoded
		case Connects:
			return RunsReceived
		}
	case Persists, WritesAgent, WritesSkill:
		if f.From.Kind == Downloads || f.From.Kind == Uploads {
			return WritesDownload
		}
	}
	return 0
}

// sent returns the kind of a flow to another machine, or 0.
func (f *Flow) sent(p passed) Meaning {
	switch f.From.Kind {
	case ReadsVariable:
		return f.variable(p)
	case ReadsDotenv:
		if (p.selected || p.header) && !f.Drop {
			return Credential
		}
		return Exfiltrates
	case ReadsEnvironment:
		if p.selected && (p.header || f.To.Host == "") {
			return Credential
		}
		return Exfiltrates
	case ReadsAgent:
		switch {
		case f.Drop:
			return Exfiltrates
		case f.To.Kind == Downloads || modelHost(f.To.Host):
			return Sends // what agents know is for models
		case p.selected && (p.header || p.address || related(p.entries, f.To.Host)):
			return Credential
		}
		fallthrough
	case ReadsKey, ReadsKeychain:
		if f.From.Kind == ReadsKeychain && p.header && !f.Drop {
			return Credential
		}
		if related(f.From.Detail, f.To.Host) || f.To.Client == "ssh" || p.header && hostsGit(f.From.Detail, f.To.Host) ||
			p.selected && (p.header ||
				f.To.Kind != Uploads) {
			return Credential
		}
		return Exfiltrates
	case ReadsBrowser, ReadsWallet, ReadsHistory, ReadsHome:
		return Exfiltrates
	case ReadsClipboard, ReadsFile, ReadsSkill:
		if f.Drop && f.To.Kind != Downloads {
			return Exfiltrates
		}
		return Sends
	}
	return 0
}

// variable returns the kind of a flow of one environment variable. A secret of a known service, and an encoded one, in
// the body or the address of a request to another host is not a credential of this request.
func (f *Flow) variable(p passed) Meaning {
	switch {
	case !secretName(f.From.Detail) || f.To.Host == "" || related(f.From.Detail, f.To.Host),
		throughGateway(f.From.Detail, f.To):
	case f.Drop:
		return Exfiltrates
	case p.header || f.To.Kind == Mails || f.To.Kind == Connects:
	case p.encoded || knownService(f.From.Detail):
		return Exfiltrates
	}
	return Credential
}

// spread turns credentials into exfiltration if one request sends those of several services to none of them, or if its
// address is encoded.
func (g *graph) spread(flows []Flow) []Flow {
	type request struct {
		file  string
		start int
	}
	services := map[request]map[string]bool{}
	hidden := map[request]bool{}
	foreign := func(f Flow) bool {
		return f.Kind == Credential && f.From.Kind == ReadsVariable && secretName(f.From.Detail) &&
			f.To.Kind == Uploads && f.To.Host != "" && !related(f.From.Detail, f.To.Host) &&
			!throughGateway(f.From.Detail, f.To)
	}
	// A function that chooses between providers returns the key of one. Keys that reach the hosts of their services
	// elsewhere, and that accompany a key of this host, are the others.
	type key struct{ file, name string }
	own, chosen := map[request]bool{}, map[key]bool{}
	for _, f := range flows {
		if f.From.Kind == ReadsVariable && f.To.Host != "" && related(f.From.Detail, f.To.Host) {
			own[request{f.To.File, f.To.Start}] = true
			chosen[key{f.From.File, f.From.Detail}] = true
		}
	}
	choice := func(f Flow) bool {
		return own[request{f.To.File, f.To.Start}] && chosen[key{f.From.File, f.From.Detail}]
	}
	for _, f := range flows {
		if !foreign(f) || choice(f) {
			continue
		}
		at := request{f.To.File, f.To.Start}
		if services[at] == nil {
			services[at] = map[string]bool{}
		}
		services[at][serviceOf(f.From.Detail)] = true
	}
	for _, f := range flows {
		if f.Kind == HidesAddress {
			hidden[request{f.To.File, f.To.Start}] = true
		}
	}
	for i, f := range flows {
		at := request{f.To.File, f.To.Start}
		switch {
		case f.Kind == Exfiltrates && f.From.Kind == ReadsVariable && !f.Drop && choice(f):
			flows[i].Kind = Credential
		case foreign(f) && !choice(f) && len(services[at]) > 1, foreign(f) && hidden[at]:
			flows[i].Kind, flows[i].Sure = Exfiltrates, min(f.Sure, Likely)
		}
	}
	return flows
}
