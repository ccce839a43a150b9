package resolve

// statement is a term of a conflict, the step that made it true, and the level of the decision that it follows from.
type statement struct {
	term
	at, level int32
}

// resolve finds the root of a conflict, takes back the decision that it shows to be wrong, and returns the rule that
// says so. It returns nil, with the failure, when no decision is left to blame.
func (s *solver) resolve(r *rule) *rule {
	s.stats.Conflicts++
	from := []*rule{r}
	s.work = s.work[:0]
	for i := range r.terms {
		s.join(r.terms[i])
	}
	for !s.hopeless() {
		last, alone := s.blame()
		if level := s.work[last].level; alone && level > 1 {
			if len(from) > 1 {
				r = &rule{terms: s.terms(), from: from}
				if r.watch[0] = int32(last); last == 0 && len(r.terms) > 1 {
					r.watch[1] = 1
				}
				s.stats.Learned++
				s.add(r)
			}
			s.forget()
			s.takeBack(level)
			return r
		}
		st := s.steps.at(s.work[last].at)
		rest := st.and(s.work[last].inverse())
		s.drop(last)
		for i := range st.cause.terms {
			if t := &st.cause.terms[i]; t.pack != st.pack {
				s.join(*t)
			}
		}
		if !rest.never() {
			s.join(rest.inverse())
		}
		from = append(from, st.cause)
	}
	s.forget()
	s.failure = &rule{from: from}
	return nil
}

// hopeless reports whether the conflict says that the root cannot be had.
func (s *solver) hopeless() bool {
	return len(s.work) == 0 || len(s.work) == 1 && s.work[0].pack == rootPack
}

// blame returns, of the statements that follow from the last decision, the one that became true last, and whether it is
// the only one.
func (s *solver) blame() (last int, alone bool) {
	alone = true
	for i := 1; i < len(s.work); i++ {
		switch w, best := &s.work[i], &s.work[last]; {
		case w.level > best.level:
			last, alone = i, true
		case w.level == best.level:
			alone = false
			if w.at > best.at {
				last = i
			}
		}
	}
	return last, alone
}

// join adds a term to the conflict. What it says of a pack already is said together.
func (s *solver) join(t term) {
	n := s.packs[t.pack].work
	if n > 0 {
		t = t.and(s.work[n-1].term)
	}
	switch {
	case t.always() && n > 0:
		s.drop(int(n - 1))
		return
	case t.always():
		return
	case n == 0:
		s.work = append(s.work, statement{})
		n = int32(len(s.work))
		s.packs[t.pack].work = n
	}
	s.work[n-1] = statement{term: t, at: s.satisfier(&t), level: s.support(t, 0)}
}

func (s *solver) drop(i int) {
	last := len(s.work) - 1
	s.packs[s.work[i].pack].work = 0
	if i != last {
		s.work[i] = s.work[last]
		s.packs[s.work[i].pack].work = int32(i + 1)
	}
	s.work = s.work[:last]
}

// forget ends the analysis.
func (s *solver) forget() {
	for i := range s.work {
		s.packs[s.work[i].pack].work = 0
	}
}

func (s *solver) terms() []term {
	terms := make([]term, len(s.work))
	for i := range s.work {
		terms[i] = s.work[i].term
	}
	return terms
}
