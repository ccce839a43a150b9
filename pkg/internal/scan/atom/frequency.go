package atom

import (
	"strconv"
	"strings"
	"sync"
)

// frequency estimates how often a text in lower case occurs in a MiB of skills. Each occurrence starts a check.
func frequency(s string) int {
	if n, ok := frequencies()[s]; ok {
		return n
	}
	switch n := len(s); {
	case n < 5:
		return 12
	case n < 7:
		return 6
	}
	return 2
}

var frequencies = sync.OnceValue(func() map[string]int {
	table := map[string]int{}
	blanks := strings.NewReplacer("_", " ", "↵", "\n")
	for entry := range strings.SplitSeq(strings.ReplaceAll(frequentTexts, "\n", " "), ", ") {
		text, count, _ := strings.Cut(strings.TrimSpace(entry), " ")
		table[blanks.Replace(text)], _ = strconv.Atoi(count) // a test reads them all
	}
	return table
})

// frequentTexts are texts that occur at least 16 times in a MiB of 1,114 public skills, and how often they do. "_" is a
// space, and "↵" a line break.
const frequentTexts = `
↵mode 35, ↵model 34, ↵the 85, ↵this 36, ↵this_ 36, _-o_ 20, _account 61, _admin 39, _agent 84, _agents 23,
_alert 34, _any 114, _apply 45, _approval 24, _ask_ 29, _command 60, _completion 20, _constraint 25,
_constraints 20, _conte 270, _dire 133, _dis 313, _env 100, _execute 26, _filter 80, _filters 17, _follow 56,
_for 1677, _guidelines 27, _history 19, _hook 21, _in_ 794, _init 67, _instruction 35, _knowledge 21,
_limitation 19, _limitations 16, _memory 58, _message 66, _mode 324, _model 239, _models 65, _not 556, _off 61,
_over_ 57, _permission 31, _set_ 65, _state_ 58, _stop 29, _system 139, _systems 37, _the 1856, _they 96,
_this 269, _this_ 245, _update 125, _user 335, _you 412, _you_ 192, --output 25, -form 26, -name 21, .com 132,
.data 26, .env 23, .get 255, .read 36, /users 17, ](http 46, ](https:// 46, _key 54, _token 26, able 734,
above 22, access 193, account 90, action 298, actions 88, add_ 122, adding 23, address 78, admin 70, admin_ 24,
afety 27, after 124, agent 148, agents 38, aily 19, alert 53, algo 46, alidation 143, all_ 423, alls 48,
always 69, analytics 22, and↵ 23, and_ 1494, anitiz 34, answer 44, any_ 158, api_key 16, append 41, apply 61,
approval 28, approved 19, archive 27, asks 71, assign 42, assw 77, assword 75, ation 2947, ations 569,
attacker 38, attempt 17, attention 18, audit 127, auth 261, authentication 41, authorization 21,
automatically 25, avoid 55, avoid_ 36, await 191, await_ 187, ayout 42, back 248, backup 18, base 412, bash 185,
bash↵ 168, basic 43, before 206, before_ 178, behavior 60, binary 28, body 68, bout 55, bout_ 49, break 56,
build 180, bytes 38, call 241, cannot 28, cannot_ 27, capture 26, ccount 91, change 223, changes 84, check 427,
checks 58, class 213, claude 64, clean 48, client 81, cloud 60, code 384, collect 62, collection 43, command 81,
commands 26, commit 75, compiler 20, complet 168, completion 23, compliance 51, config 170, confirm 58,
constraint 30, constraints 22, construct 26, contact 19, conte 367, content 202, content↵ 19, content_ 93,
contents 22, control 159, controls 37, copy 69, core 233, create 253, create_ 144, credential 36, credentials 24,
cript 530, critical 100, crypt 77, cture 273, customer 131, daily 19, data 1158, default 118, default_ 44,
delay 20, delete 50, delete_ 20, dentified 17, deploy 70, dest 21, detail 110, detect 155, developer 20,
device 47, dire 175, director 58, directory 47, disable 22, discuss 24, display 27, dmin 71, do_not 41,
docker 29, document 249, documentation 87, documents 22, does_not 23, download 40, drop 45, e.g. 54, each 224,
earch 212, echo 23, ecret 110, ecurity 180, edit 56, email 135, embed 38, emove 66, enable 60, enable_ 22,
encrypt 33, endpoint 34, ends 46, ensure 42, enter 68, entication 41, entries 18, environment 85, erification 50,
ersist 19, erver 62, ession 207, eval 140, eval_ 16, ever 307, ever_ 64, every 131, every_ 101, evious 20,
example 230, exec 147, execute 39, execute_ 16, existing 47, existing_ 44, explicit 53, expos 23, fail 169,
fails 25, fetch 38, file 567, files 166, filter 142, filters 24, find 204, find_ 54, first 151, flag 84,
folder 22, follow 62, follow_ 20, for_ 1428, force 48, format 349, forward 24, free_ 27, from 628, from_ 554,
fter 125, full 136, full_ 87, function 192, future 28, gent 157, gents 38, github 97, github.com 33, given 16,
global 25, grep 60, guide 122, guideline 35, guidelines 30, has_ 72, have 124, have_ 96, head 144, hidden 24,
history 24, hook 36, host 51, http 168, https 130, https: 124, https:// 124, human 36, human_ 18, ical 530,
idelines 30, identified 17, ignor 35, ignore 25, image 157, important 35, important_ 19, include 128,
include_ 61, info 152, inform 92, information 72, init 163, initial 54, inject 39, input 203, install 101,
install_ 51, installation 18, instead_of 30, instruct 43, instruction 42, instructions 29, inter 346,
interaction 25, interface 28, internal 57, interpret 47, into 72, iority 49, isplay 27, keep 65, keep_ 44,
keys 34, knowledge 34, language 71, layout 42, leak 22, less 73, limit 132, limitation 23, limitations 19,
limits 22, linear 34, lint 30, live 57, llect 63, load 260, local 71, location 58, lock 135, locked 19,
logging 23, login 35, logs 34, look 59, lways 69, machine 22, mail 144, make 81, mark 273, mask 30, measures 17,
mention 18, mermaid 26, message 93, message_ 33, messages 25, method 149, metrics 117, mita 24, mite 28,
mmand 81, mmands 26, mode 510, model 393, models 90, modify 16, module 67, monitoring 44, mote 30, mportant 35,
must 84, ncat 26, need 194, need_to 19, needed 56, net_ 20, never 61, never_ 57, ning 420, node 114, node_ 25,
normal 83, not_ 467, note 117, note_ 29, notes 44, ntact 21, ntent 220, object 117, objects 34, offset 19,
older 62, olicies 17, once 87, onfig 170, onse 170, open 148, open_ 35, open( 22, operation 106, operations 74,
operator 23, original 27, orization 28, other 103, other_ 59, ource 286, output 262, over 509, owner 68,
page 359, pass 186, passw 77, password 75, patch 35, path 276, pattern 308, pattern_ 70, perator 23, perform 126,
permission 44, permissions 26, persist 19, pi_key 16, ping 88, ping_ 48, pixel 24, plugin 22, polic 71,
policies 17, policy 53, ponse 125, pool 21, post 136, ppend 41, pproval 28, prefix 16, previous 20, print 253,
prior 109, priority_ 28, process 328, processing 83, production 58, profile 49, project 195, prompt 85,
protect 35, protocol 39, public 85, publish 34, push 23, python 608, python↵ 418, python_ 136, python3 22,
python3_ 20, random 79, range( 23, rather_than 20, read 373, receive 19, record 120, records 40, redentials 24,
regulatory 20, remote 19, remov 78, remove 66, remove_ 34, render 32, repeat 28, repl 67, repo 284, report 216,
reporting 33, repository 24, requ 541, request 145, requests 41, require 337, required 127, requires 47,
reset 23, resp 170, response 125, result 375, results 220, retry 20, return 228, reverse 16, review 271,
reviews 24, root 62, root_ 36, rotocol 39, rules 86, rules↵ 18, rules_ 25, run_ 155, running 34, rypt 77,
s_the 238, safety 27, safety_ 16, sage 178, sanitiz 34, save 97, scan 76, script 530, script↵ 56, script_ 46,
search 212, secret 110, secret_ 27, secrets 43, section 106, sections 30, secure 39, security 180, security_ 112,
send 54, sent 174, server 62, session 96, set↵ 21, set_ 136, settings 33, setup 63, signature 33, sistent 52,
site 64, sitory 24, skill 269, skills 74, skip 47, source 286, source_ 103, sponse 125, stage 62, state 216,
step 263, steps 59, stop 38, store 78, strict 37, string 138, strings 19, strip 20, style 106, style_ 35,
submit 32, summar 107, summary 90, symbol 26, sync 105, system 185, system_ 72, systems 40, tail 121, take 78,
take_ 18, takes 21, target 201, task 159, tasks 54, tell 31, text 402, that 285, that_ 260, the↵ 20, the_ 1564,
the_user_ 30, them 94, then 125, then_ 50, these 69, these_ 55, they 101, they_ 85, this 325, this_ 296,
ting 901, to_a_ 25, to_the_ 49, token 163, tokens 40, tone 24, tore 88, transfer 34, tring 138, trip 27,
true 162, ttempt 17, type 441, types 128, ublish 34, ubmit 32, ules 121, unless 17, until 20, until_ 17,
update 168, upload 20, user 538, user_ 177, user_ 47, users 121, users_ 54, using 113, usual 16, utomatically 25,
validation 143, verification 50, verr 16, verse 41, very 206, visit 16, void 62, wait 228, want 35, warning 33,
what 314, what_ 265, when 358, while 25, while_ 24, with 1020, with_ 795, without 117, without_ 115, wner 68,
word 167, write 141, your 197, your_ 172, ystem 185, zero 69
`
