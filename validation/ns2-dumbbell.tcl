# ns-2 oracle: greedy (or finite) TCP flows over one dumbbell bottleneck.
#
#   ns ns2-dumbbell.tcl key=value ...        prints one line of JSON
#
# Keys (defaults in brackets):
#   alg      newreno | hoe (NewReno with ns-2's own Hoe option) | reno | tahoe |
#            vegas | sack | fack | linux-<ca> (linux-reno, linux-cubic, ...) | linux (TCP/Linux's
#            CUBIC as its agent comes: no time stamps, receivers that report nothing out of order,
#            the SYN a packet of the initial window) [newreno]
#   rate     bottleneck, Mbps [40]          rtt   two-way propagation, ms [100]
#   buf      bottleneck buffer: packets, "bdp", or e.g. "0.25bdp" [bdp]
#   second   a second bottleneck in a row: Mbps, packets of buffer and one-way delay in ms, which
#            comes on top of rtt, comma-separated; drops are those of the slower one [none]
#   flows    number of flows [1]            dur   simulated seconds [20]
#   ssthresh initial, packets; 0 = unlimited (window) [32]
#   pkt      packet size, bytes [1000]
#   hdr      in: pkt is the size on the wire; add: 40 bytes of header on top [in]
#   ack      1 = an ACK per packet, 2 = delayed ACKs [1]
#   access   access-link rate, Mbps, or a multiple of rate such as 2x [10x]
#   adelay   one-way delay of each access link, ms [0]
#   accesses, adelays  the same for each flow, comma-separated, in Mbps and ms; adelays come on
#            top of what inc leaves of rtt for the bottleneck []
#   inc      1 = rtt includes the access links, 0 = they come on top [1]
#   iw       initial window, packets, after the SYN [2, stock ns-2]
#   syn      1 = model the SYN exchange [1]
#   packets  packets per flow; 0 = greedy [0]
#   at       start time of the first flow, s [0]
#   spread   flow starts drawn uniformly over this many seconds [0]
#   starts   start times in seconds, one per flow, comma-separated; replaces at and spread []
#   life     seconds a flow lives; 0 = to the end [0]
#   seed     random seed (used by spread) [1]
#   minrto   smallest retransmission timeout, s; 0 = ns-2's own (0.2) [0]
#   tick     TCP clock tick, s; 0 = ns-2's own (0.01) [0]
#   maxburst ns-2 maxburst_ [0]
#   lt       1 = limited transmit, ns-2 singledup_ [1, stock]
#   impatient  NewReno newreno_changes1_: 1 = only the first partial ACK restarts the
#            retransmission timer (stock ns-2.35), 0 = every one does, one hole an RTT [1]
#   deflate  NewReno partial_window_deflation_ [1, stock]
#   release  whose constants: 2.35, or 2.26 (February 2003: minrto 1, rtxcur_init_ 6, impatient 0,
#            deflate 0, no exitFastRetrans_ and Reno as it was before that), or 2.1b6 (January 2000:
#            those, but minrto_ 0; a tick of 0.1, no SYN exchange, no limited transmit), as ns-2's
#            list of changes and the comments of its own test suites date them; overrides minrto,
#            tick, lt, syn, impatient and deflate [2.35]
#   gamma    Vegas v_gamma_; alpha, beta likewise [1, 1, 3]
#   poll     every how many ms to look for the first drop at the bottleneck; the first
#            flow's cwnd then is reported (needs mon=1); 0 = do not look [0]
#   ssexit   1 = also report how slow start of the first flow ended [0]
#   trace    file for the cwnd of the first flow (ns-2's variable trace) []
#   packets_trace  file for ns-2's packet trace of the bottleneck's forward queue []
#   mon      1 = count drops and departures at the bottleneck [1]
#   lean     1 = remove unused packet headers (ns-2's own speed advice) [1]
#   sched    Calendar | Heap | List | Splay [Calendar]

array set o {
    alg newreno rate 40 rtt 100 buf bdp flows 1 dur 20 ssthresh 32 pkt 1000 hdr in
    ack 1 access 10x adelay 0 inc 1 iw 2 syn 1 packets 0 at 0 spread 0 life 0 seed 1
    minrto 0 tick 0 maxburst 0 lt 1 impatient 1 deflate 1 gamma 1 alpha 1 beta 3 poll 0 ssexit 0
    starts "" accesses "" adelays "" trace "" packets_trace "" mon 1 lean 1 sched Calendar
    release 2.35 second ""
}
foreach a $argv {
    set i [string first = $a]
    set k [string range $a 0 [expr {$i - 1}]]
    if {$i < 1 || ![info exists o($k)]} { puts stderr "unknown argument: $a"; exit 2 }
    set o($k) [string range $a [expr {$i + 1}] end]
}

if {$o(release) in {2.26 2.1b6}} {
    array set o {impatient 0 deflate 0 minrto 1}
    Agent/TCP set rtxcur_init_ 6.0
    Agent/TCP set exitFastRetrans_ false
}
if {$o(release) eq "2.1b6"} {
    array set o {minrto 0 tick 0.1 lt 0 syn 0}
    Agent/TCP set minrto_ 0
}

if {$o(lean)} { remove-all-packet-headers; add-packet-header IP TCP Flags }
set wire [expr {$o(hdr) eq "add" ? $o(pkt) + 40 : $o(pkt)}]
set bdp  [expr {$o(rate) * 1e6 * $o(rtt) * 1e-3 / (8.0 * $o(pkt))}]
if {[regexp {^([0-9.]*)bdp$} $o(buf) -> f]} {
    set buf [expr {int(($f eq "" ? 1.0 : $f) * $bdp + 0.5)}]
} else { set buf $o(buf) }
if {$buf < 2} { set buf 2 }
set window [expr {int(8 * ($bdp + $buf)) + 2000}]
set access $o(access)
if {[string match *x $access]} { set access [expr {[string trimright $access x] * $o(rate)}] }
set onedelay [expr {$o(rtt) / 2.0 - ($o(inc) ? 2 * $o(adelay) : 0)}]

set ns [new Simulator]
$ns use-scheduler $o(sched)
set rng [new RNG]
$rng seed $o(seed)

set r1 [$ns node]
set r2 [$ns node]
$ns simplex-link $r1 $r2 $o(rate)Mb ${onedelay}ms DropTail
$ns simplex-link $r2 $r1 $o(rate)Mb ${onedelay}ms DropTail
# ns-2's DropTail drops when length+1 >= limit, not counting the packet being
# sent: with limit = buf + 1, buf packets wait while one more is on the wire.
$ns queue-limit $r1 $r2 [expr {$buf + 1}]
$ns queue-limit $r2 $r1 1000000
set last $r2
if {$o(second) ne ""} {
    lassign [split $o(second) ,] rate2 buf2 delay2
    set last [$ns node]
    $ns simplex-link $r2 $last ${rate2}Mb ${delay2}ms DropTail
    $ns simplex-link $last $r2 ${rate2}Mb ${delay2}ms DropTail
    $ns queue-limit $r2 $last [expr {$buf2 + 1}]
    $ns queue-limit $last $r2 1000000
}
if {$o(mon)} {
    set ends [expr {$last ne $r2 && $rate2 < $o(rate) ? [list $r2 $last] : [list $r1 $r2]}]
    set qm [$ns monitor-queue {*}$ends ""]
}
if {$o(packets_trace) ne ""} { $ns trace-queue $r1 $r2 [open $o(packets_trace) w] }

Agent/TCP set window_ $window
Agent/TCP set windowInit_ $o(iw)
Agent/TCP set syn_ [expr {$o(syn) ? true : false}]
Agent/TCP set delay_growth_ [expr {$o(syn) ? true : false}]
Agent/TCP set useHeaders_ [expr {$o(hdr) eq "add" ? true : false}]
Agent/TCP set packetSize_ $o(pkt)
Agent/TCP set maxburst_ $o(maxburst)
Agent/TCP set singledup_ $o(lt)
Agent/TCP/Newreno set newreno_changes1_ $o(impatient)
Agent/TCP/Newreno set partial_window_deflation_ $o(deflate)
if {$o(minrto) > 0} { Agent/TCP set minrto_ $o(minrto) }
if {$o(tick) > 0}   { Agent/TCP set tcpTick_ $o(tick) }

Agent/TCP/Vegas set v_alpha_ $o(alpha)
Agent/TCP/Vegas set v_beta_ $o(beta)
Agent/TCP/Vegas set v_gamma_ $o(gamma)

set sinkof(1) Agent/TCPSink
set sinkof(2) Agent/TCPSink/DelAck
set classes {newreno Newreno hoe Newreno reno Reno tahoe "" vegas Vegas sack Sack1 fack Fack}
set lin ""
set stock [expr {$o(alg) eq "linux"}]
if {$stock} {
    set lin cubic
    set class Agent/TCP/Linux
    Agent/TCP set delay_growth_ false
} elseif {[regexp {^linux-(.+)$} $o(alg) -> lin]} {
    set class Agent/TCP/Linux
} elseif {[dict exists $classes $o(alg)]} {
    set c [dict get $classes $o(alg)]
    set class [expr {$c eq "" ? "Agent/TCP" : "Agent/TCP/$c"}]
} else { puts stderr "unknown alg: $o(alg)"; exit 2 }
if {$o(alg) in {sack fack} || ($lin ne "" && !$stock)} {
    set sinkof(1) Agent/TCPSink/Sack1
    set sinkof(2) Agent/TCPSink/Sack1/DelAck
}
if {$lin ne "" && !$stock} {
    Agent/TCP set timestamps_ true
    Agent/TCPSink set ts_echo_rfc1323_ true
}

set finished 0
Agent/TCP instproc done {} {
    global ns fct finished
    set fct($self) [$ns now]
    incr finished
}

foreach k {starts accesses adelays} {
    set given($k) [split $o($k) ,]
    if {[llength $given($k)] != 0 && [llength $given($k)] != $o(flows)} {
        puts stderr "$k has [llength $given($k)] values for $o(flows) flows"
        exit 2
    }
}

# Before exitFastRetrans_ Reno answered each loss of a window until a timeout, and bugFix_ held
# after one only. ns-2.35 has both or neither, so bugFix_ is set at every cut, of which ns-2 tells a
# channel.
set careful [expr {$o(alg) eq "reno" && $o(release) ne "2.35"}]
proc answer {t call channel args} {
    global timeouts tchan tcp
    if {$call eq "initialize"} {
        set timeouts($t) 0
        return {initialize finalize watch write}
    }
    if {$call ne "write"} return
    set line [lindex $args 0]
    if {[string match *ncwndcuts_* $line]} {
        set n [$t set nrexmit_]
        $t set bugFix_ [expr {$n > $timeouts($t)}]
        set timeouts($t) $n
    } elseif {[info exists tchan] && $t eq $tcp(0)} { puts -nonewline $tchan $line }
    return [string length $line]
}

for {set i 0} {$i < $o(flows)} {incr i} {
    set s [$ns node]
    set h [$ns node]
    set arate [expr {$o(accesses) eq "" ? $access : [lindex $given(accesses) $i]}]
    set adelay [expr {$o(adelays) eq "" ? $o(adelay) : [lindex $given(adelays) $i]}]
    foreach {a b} [list $s $r1 $last $h] {
        $ns duplex-link $a $b ${arate}Mb ${adelay}ms DropTail
        $ns queue-limit $a $b 1000000
        $ns queue-limit $b $a 1000000
    }
    set tcp($i) [new $class]
    set sink($i) [new $sinkof($o(ack))]
    $ns attach-agent $s $tcp($i)
    $ns attach-agent $h $sink($i)
    $ns connect $tcp($i) $sink($i)
    if {$o(alg) eq "hoe"} { $tcp($i) set newreno_changes_ 1 }
    set app($i) [new Application/FTP]
    $app($i) attach-agent $tcp($i)
    if {[llength $given(starts)] > 0} {
        set start($i) [lindex $given(starts) $i]
    } else {
        set start($i) [expr {$o(at) + ($o(spread) > 0 ? [$rng uniform 0 $o(spread)] : 0)}]
    }
    # The simulator resets every agent when it starts, and a reset sets ssthresh_
    # to window_: a value given before that is lost, so it is set at time 0.
    if {$o(ssthresh) > 0} { $ns at 0.0 "$tcp($i) set ssthresh_ $o(ssthresh)" }
    if {$lin ne ""} { $ns at 0.0 "$tcp($i) select_ca $lin" }
    if {$careful} {
        set channel [chan create write [list answer $tcp($i)]]
        fconfigure $channel -buffering none
        $tcp($i) attach $channel
        $tcp($i) trace ncwndcuts_
    }
    if {$o(packets) > 0} {
        $ns at $start($i) "$app($i) produce $o(packets)"
    } else {
        $ns at $start($i) "$app($i) start"
        if {$o(life) > 0} { $ns at [expr {$start($i) + $o(life)}] "$app($i) stop" }
    }
}

# the first drop
set firstdrop {}
proc look {} {
    global o ns qm tcp firstdrop
    if {[$qm set pdrops_] > 0} {
        set firstdrop [list [$ns now] [$tcp(0) set cwnd_]]
    } else { $ns at [expr {[$ns now] + $o(poll) * 1e-3}] look }
}
if {$o(poll) > 0} { $ns at 0.0 look }

# cwnd and ssthresh of the first flow, to a file
if {$o(ssexit) || $o(trace) ne ""} {
    if {$o(trace) ne ""} {
        set tfile $o(trace)
        set tchan [open $tfile w]
    } else { set tchan [file tempfile tfile] }
    if {!$careful} { $tcp(0) attach $tchan }
    $tcp(0) trace cwnd_
    $tcp(0) trace ssthresh_
}

proc report {} {
    global o ns tcp sink fct start qm buf bdp wire wall0 tchan tfile finished firstdrop
    set wall [expr {([clock microseconds] - $wall0) * 1e-6}]
    set got 0; set sent 0; set rtx 0; set to 0; set cuts 0; set rates {}
    for {set i 0} {$i < $o(flows)} {incr i} {
        set g [expr {[$tcp($i) set ack_] + ($o(syn) ? 0 : 1)}]
        if {$g < 0} { set g 0 }
        lappend rates $g
        incr got $g
        set n [expr {[$tcp($i) set ndatapack_] - $o(syn)}]
        incr sent [expr {max($n, 0)}]
        incr rtx  [$tcp($i) set nrexmitpack_]
        incr to   [$tcp($i) set nrexmit_]
        incr cuts [$tcp($i) set ncwndcuts_]
    }
    # What the receivers have, in order; their byte counters wrap at 2 GiB.
    set received $got
    if {$o(rate) * 1e6 / 8 * $o(dur) < 2e9} {
        set received 0
        for {set i 0} {$i < $o(flows)} {incr i} {
            incr received [expr {[$sink($i) set bytes_] / $wire}]
        }
        # Vegas sends its SYN as a full packet.
        if {$o(syn) && $o(alg) eq "vegas"} { incr received -$o(flows) }
    }
    set sum 0.0; set sq 0.0
    foreach g $rates { set sum [expr {$sum + $g}]; set sq [expr {$sq + 1.0 * $g * $g}] }
    set jain [expr {$sq > 0 ? $sum * $sum / ($o(flows) * $sq) : 0}]
    set denom [expr {$o(rate) * 1e6 * ($o(dur) - $o(at))}]
    set j "{\"sim\":\"ns-[ns-version]\",\"alg\":\"$o(alg)\",\"rate_mbps\":$o(rate)"
    append j ",\"rtt_ms\":$o(rtt),\"buf_pkts\":$buf,\"flows\":$o(flows),\"dur_s\":$o(dur)"
    append j ",\"ssthresh\":$o(ssthresh),\"pkt\":$o(pkt),\"wire\":$wire,\"ack\":$o(ack)"
    append j [format {,"bdp_pkts":%.1f,"delivered":%d,"util":%.5f,"mbps":%.4f} $bdp $got \
        [expr {$got * 8.0 * $o(pkt) / $denom}] [expr {$got * 8e-6 * $o(pkt) / ($o(dur) - $o(at))}]]
    append j [format {,"received":%d,"received_util":%.5f} $received \
        [expr {$received * 8.0 * $o(pkt) / $denom}]]
    append j ",\"sent\":$sent,\"rtx\":$rtx,\"timeouts\":$to,\"cwnd_cuts\":$cuts"
    if {$o(mon)} {
        append j [format {,"drops":%d,"link_pkts":%d,"link_util":%.5f} [$qm set pdrops_] \
            [$qm set pdepartures_] [expr {[$qm set pdepartures_] * 8.0 * $wire / $denom}]]
    }
    append j [format {,"jain":%.4f,"cwnd_end":%.2f} $jain [$tcp(0) set cwnd_]]
    if {$o(flows) > 1} {
        set times {}
        for {set i 0} {$i < $o(flows)} {incr i} { lappend times $start($i) }
        append j ",\"starts_s\":\[[join $times ,]\],\"flow_delivered\":\[[join $rates ,]\]"
    }
    if {$o(packets) > 0} {
        set m 0.0
        foreach t [array names fct] { if {$fct($t) > $m} { set m $fct($t) } }
        append j [format {,"finished":%d,"last_finish_s":%.4f} $finished $m]
    }
    if {$o(poll) > 0} {
        lassign $firstdrop t c
        if {$t eq ""} {
            append j ",\"first_drop_s\":null,\"first_drop_cwnd\":null"
        } else { append j [format {,"first_drop_s":%.3f,"first_drop_cwnd":%.1f} $t $c] }
    }
    if {[info exists tchan]} {
        close $tchan
        lassign [ssexit $tfile] t c m
        append j [format {,"ss_exit_s":%.4f,"ss_exit_cwnd":%.2f,"ss_exit_ratio":%.4f} \
            $t $c [expr {$c / $bdp}]]
        if {$o(trace) eq ""} { file delete $tfile }
    }
    append j [format {,"wall_s":%.3f} $wall] "}"
    puts $j
    flush stdout
    exit 0
}

# Slow start ends at the first fall of cwnd, or when cwnd reaches ssthresh, or when
# ssthresh is lowered below cwnd: the time, and the largest cwnd until then.
proc ssexit {file} {
    set best 0.0; set when 0.0; set th 1e9; set prev 0.0
    set f [open $file]
    while {[gets $f line] >= 0} {
        if {![regexp {^\s*([0-9.]+) .* (cwnd_|ssthresh_) ([0-9.]+)} $line -> t var v]} continue
        if {$var eq "ssthresh_"} {
            if {$v < $th && $best > 2 && $v < $best} { set when $t; break }
            set th $v
            continue
        }
        set when $t
        if {$v < $prev && $prev > 2} break
        if {$v > $best} { set best $v }
        if {$v >= $th && $th > 2} break
        set prev $v
    }
    close $f
    return [list $when $best 0]
}

$ns at $o(dur) report
set wall0 [clock microseconds]
$ns run
