package resolve

// step is one step of the search: a decision, or a statement that follows from a rule and the steps before.
type step struct {
	term
	after term // what the steps so far that are in force say of the pack
	cause *rule
	level int32 // that of the decision, or of the last decision that it follows from
	uses  int32 // the first of the links to the steps that follow from it
	dead  bool  // it was taken back
}

// link is an item of the list of steps that follow from one step. Number 0 is the end.
type link struct{ step, next int32 }

// trail is all steps in order. Other than the stack that a search usually has, any decision can be taken back with what
// follows from it and nothing else: what a conflict does not concern stays.
type trail struct {
	steps pages[step]
	links pages[link]
	// the decision of each level: from 1, that of the root, in the order in which decisions are to be right
	taken []int32
	lists slab[int32]
	dead  int // the number of steps taken back
}

// take decides that a pack is in a version. The decision follows from what makes the pack needed and from what excludes
// better versions: when that is taken back, the pack is decided anew.
func (s *solver) take(p int32, v int) {
	id, progress := int32(s.steps.n), &s.packs[p]
	better := s.cat.packs[p].better(v)
	needed := false
	for _, i := range progress.steps {
		st := s.steps.at(i)
		if first := !needed && !st.after.not; first || !better.never() && !better.implies(&st.term) {
			s.follow(i, id)
		}
		needed = !st.after.not
	}
	level := progress.level
	if level == 0 {
		level = int32(len(s.taken))
		s.taken = append(s.taken, 0)
	}
	if progress.direct {
		progress.level = level
	}
	s.taken[level] = id
	progress.decided = int32(v)
	s.push(step{term: term{pack: p, set: one(v)}, level: level})
}

// free takes back the decisions about later packs that something about p follows from. So packs that the root requires
// are decided as if they were decided one after the other, however often one of them is decided anew.
func (s *solver) free(p int32) {
	for i := 0; i < len(s.packs[p].steps); {
		if level := s.steps.at(s.packs[p].steps[i]).level; s.packs[p].level > 0 && level > s.packs[p].level {
			s.takeBack(level)
			i = 0
		} else {
			i++
		}
	}
}

// infer adds what follows from a rule of which all but one statement are true.
func (s *solver) infer(r *rule, left *term) {
	level := int32(1)
	for i := range r.terms {
		if t := &r.terms[i]; t.pack != left.pack {
			level = max(level, s.support(*t, int32(s.steps.n)))
		}
	}
	s.push(step{term: left.inverse(), cause: r, level: level})
}

func (s *solver) push(st step) {
	p := &s.packs[st.pack]
	p.sum = p.sum.and(st.term)
	p.steps = s.lists.add(p.steps, int32(s.steps.n))
	st.after = p.sum
	s.steps.add(st)
	s.reopen(st.pack)
}

// follow notes that one step follows from another.
func (s *solver) follow(from, step int32) {
	if s.links.n == 0 {
		s.links.add(link{})
	}
	f := s.steps.at(from)
	s.links.add(link{step: step, next: f.uses})
	f.uses = int32(s.links.n - 1)
}

// satisfier returns the first step after which a statement is true.
func (s *solver) satisfier(t *term) int32 {
	steps := s.packs[t.pack].steps
	at := len(steps) - 1
	for at > 0 && s.steps.at(steps[at-1]).after.implies(t) {
		at--
	}
	return steps[at]
}

// support returns the level of the last decision that a true statement follows from. Unless step is 0, it notes that
// the step follows from it.
func (s *solver) support(t term, step int32) (level int32) {
	for {
		at := s.satisfier(&t)
		if step > 0 {
			s.follow(at, step)
		}
		level = max(level, s.steps.at(at).level)
		rest := s.steps.at(at).and(t.inverse())
		if rest.never() {
			return level
		}
		t = rest.inverse() // the steps before say this
	}
}

// takeBack takes back the decision of a level with all that follows from it.
func (s *solver) takeBack(level int32) {
	var touched []int32
	for todo := []int32{s.taken[level]}; len(todo) > 0; {
		st := s.steps.at(todo[len(todo)-1])
		todo = todo[:len(todo)-1]
		if st.dead {
			continue
		}
		st.dead = true
		s.dead++
		if p := &s.packs[st.pack]; !p.touched {
			p.touched = true
			touched = append(touched, st.pack)
		}
		for l := st.uses; l > 0; {
			link := s.links.at(l)
			todo = append(todo, link.step)
			l = link.next
		}
	}
	for _, p := range touched {
		s.restore(p)
	}
	if s.dead > 1000 && s.dead > s.steps.n/2 {
		s.compact()
	}
}

// restore says of a pack what its remaining steps say. Its rules have to be looked at again: what one of them said may
// not have been needed so far.
func (s *solver) restore(n int32) {
	p := &s.packs[n]
	p.touched, p.renewed, p.sum, p.decided = false, true, anything(n), -1
	kept := p.steps[:0]
	for _, id := range p.steps {
		st := s.steps.at(id)
		if st.dead {
			continue
		}
		p.sum = p.sum.and(st.term)
		st.after = p.sum
		if st.cause == nil {
			p.decided = int32(st.set.first())
		}
		kept = append(kept, id)
	}
	p.steps = kept
	s.change(n)
	s.reopen(n)
}

// compact forgets the steps that were taken back.
func (s *solver) compact() {
	numbers := make([]int32, s.steps.n)
	kept := int32(0)
	for id := range int32(s.steps.n) {
		if numbers[id] = -1; !s.steps.at(id).dead {
			numbers[id] = kept
			*s.steps.at(kept) = *s.steps.at(id)
			kept++
		}
	}
	old := s.links
	s.steps.n, s.links, s.dead = int(kept), pages[link]{}, 0
	for id := range kept {
		l := s.steps.at(id).uses
		s.steps.at(id).uses = 0
		for l > 0 {
			link := old.at(l)
			if n := numbers[link.step]; n >= 0 {
				s.follow(id, n)
			}
			l = link.next
		}
	}
	for level, id := range s.taken {
		if id >= 0 {
			s.taken[level] = numbers[id] // -1 for what was taken back: nothing follows from it
		}
	}
	for p := range s.packs {
		for i, id := range s.packs[p].steps {
			s.packs[p].steps[i] = numbers[id] // all are in force
		}
	}
}
