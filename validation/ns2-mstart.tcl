# ns-2 oracle: M-Start, section 6. One flow over a chain of three routers, 15 s, with slow start or
# with M-Start's growth on ns-2's TCP/Linux.
#
#   ns ns2-mstart.tcl key=value ...          prints one line of JSON
#
# Keys (defaults in brackets):
#   buf    buffer of every link, packets [100]
#   start  slow | mstart [slow]
#   ca     none = TCP/Linux's own congestion avoidance, or cubic, ... (slow start only) [none]
#   sink   plain | sack = receivers that report what came out of order [plain, stock]
#   ts     1 = TCP time stamps [0, stock]
#   dur    seconds [15]
#
# Table 4 of the paper is the first link's list of
#   ns ns2-mstart.tcl ca=cubic                  traditional: 23 67 192 553 717 600 ... 550
#   ns ns2-mstart.tcl start=mstart buf=250      M-Start; its own avoidance stands in for CUBIC,
#                                               whose window no trace can change

array set o {buf 100 start slow ca none sink plain ts 0 dur 15}
foreach a $argv {
    set i [string first = $a]
    set k [string range $a 0 [expr {$i - 1}]]
    if {$i < 1 || ![info exists o($k)]} { puts stderr "unknown argument: $a"; exit 2 }
    set o($k) [string range $a [expr {$i + 1}] end]
}
if {$o(sink) ni {plain sack}} { puts stderr "sink is plain or sack"; exit 2 }
if {$o(start) eq "mstart" && $o(ca) ne "none"} { puts stderr "mstart needs ca=none"; exit 2 }

remove-all-packet-headers
add-packet-header IP TCP Flags
set ns [new Simulator]
Agent/TCP set window_ 100000
Agent/TCP set packetSize_ 576
Agent/TCP set useHeaders_ false
foreach n {s r1 r2 r3 d} { set $n [$ns node] }
foreach {a b ms} [list $s $r1 1 $r1 $r2 124 $r2 $r3 124 $r3 $d 1] {
    $ns duplex-link $a $b 1Gb ${ms}ms DropTail
    $ns queue-limit $a $b [expr {$o(buf) + 1}]
    $ns queue-limit $b $a 1000000
}
set qm [$ns monitor-queue $s $r1 ""]
set t [new Agent/TCP/Linux]
set k [new [expr {$o(sink) eq "sack" ? "Agent/TCPSink/Sack1" : "Agent/TCPSink"}]]
if {$o(ts)} {
    $t set timestamps_ true
    $k set ts_echo_rfc1323_ true
}
$ns attach-agent $s $t
$ns attach-agent $d $k
$ns connect $t $k
set f [new Application/FTP]
$f attach-agent $t
if {$o(ca) ne "none"} { $ns at 0 "$t select_ca $o(ca)" }

# ns-2 tells a channel of every change of the window before it sends. In slow start the window has
# just grown by one packet; the handler makes it the counter's value, 10 down to 1 and over again.
set last 2.0
set counter 10
proc grow {call channel args} {
    global t last counter
    if {$call eq "initialize"} { return {initialize finalize watch write} }
    if {$call ne "write"} return
    set w [$t set cwnd_]
    if {$w - $last == 1 && $w <= [$t set ssthresh_]} {
        set last [expr {$w - 1 + $counter}]
        set counter [expr {$counter == 1 ? 10 : $counter - 1}]
        $t set cwnd_ $last
    } elseif {$w != $last} {
        if {$w < $last} { set counter 10 }
        set last $w
    }
    return [string length [lindex $args 0]]
}
if {$o(start) eq "mstart"} {
    set channel [chan create write grow]
    fconfigure $channel -buffering none
    $t attach $channel
    $t trace cwnd_
}

# What the first link has carried by now: the average since the start and the amount of the last
# second, in kbit/s.
set averages {}
set seconds {}
set carried 0
proc sample {} {
    global ns qm averages seconds carried
    set now [$ns now]
    set bits [expr {[$qm set bdepartures_] * 8e-3}]
    lappend averages [format %.1f [expr {$bits / $now}]]
    lappend seconds [format %.1f [expr {$bits - $carried}]]
    set carried $bits
}

proc report {} {
    global o t qm averages seconds
    set acked [$t set ack_]
    set j [format {"buf_pkts":%d,"start":"%s","ca":"%s","sink":"%s","ts":%d} \
        $o(buf) $o(start) $o(ca) $o(sink) $o(ts)]
    append j [format {,"kbps":%.1f,"drops":%d,"timeouts":%d} \
        [expr {$acked * 576 * 8e-3 / $o(dur)}] [$qm set pdrops_] [$t set nrexmit_]]
    append j ",\"first_link_average_kbps\":\[[join $averages ,]\]"
    append j ",\"first_link_second_kbit\":\[[join $seconds ,]\]"
    puts "{$j}"
    exit 0
}
$ns at 0.1 "$f start"
for {set second 1} {$second <= $o(dur)} {incr second} { $ns at $second sample }
$ns at $o(dur) report
$ns run
